#include "codec/sides.h"

#include "base/map.h"
#include "codec/model.h"

#include <ctype.h>

/* Words for the two sides. A single letter counts only where it stands alone: "l_eye", "eye.L", "lEye". */
static const struct {
    const char *word[2];
    bool alone;
} words[] = {
    {{"left", "right"}, false}, {{"Left", "Right"}, false}, {{"LEFT", "RIGHT"}, false},
    {{"左", "右"}, false},      {{"l", "r"}, true},         {{"L", "R"}, true},
};

struct partners {
    size_t count;
    uint32_t *of; /* of each point, the one on the other side; itself when there is none */
};

struct sides {
    struct map *labels; /* name -> struct partners */
};

static bool stands_alone(struct str name, size_t at)
{
    bool before = at == 0 || !isalnum((unsigned char)name.p[at - 1]);
    bool end = at + 1 == name.n || !isalnum((unsigned char)name.p[at + 1]);
    bool hump =
        at == 0 && name.n > 1 && islower((unsigned char)name.p[0]) && isupper((unsigned char)name.p[1]);
    return before && (end || hump);
}

/* The number of the point whose name is this one with the word at `at` replaced, from 1; 0: there is none. */
static uint32_t named(const struct map *numbers, struct str name, size_t at, size_t n, const char *other)
{
    auto_buf struct buf b = {0};
    buf_add(&b, name.p, at);
    buf_z(&b, other);
    buf_add(&b, name.p + at + n, name.n - at - n);
    return (uint32_t)(uintptr_t)map_get(numbers, buf_view(&b));
}

/* The point on the other side, from 1; 0: there is none. */
static uint32_t partner_of(const struct map *numbers, struct str name)
{
    for (size_t k = 0; k < countof(words); k++)
        for (int side = 0; side < 2; side++) {
            const char *word = words[k].word[side];
            size_t n = strlen(word);
            for (size_t at = 0; at + n <= name.n; at++) {
                if (memcmp(name.p + at, word, n) != 0 || (words[k].alone && !stands_alone(name, at)))
                    continue;
                uint32_t found = named(numbers, name, at, n, words[k].word[!side]);
                if (found)
                    return found;
            }
        }
    return 0;
}

/* NULL when no two points are a pair. */
static struct partners *pairs_of(struct arena *a, const struct codec_label *l)
{
    struct map *numbers = map_new();
    struct partners *p = arena_new(a, struct partners);
    bool any = false;
    p->count = l->keypoint_count;
    p->of = arena_array(a, uint32_t, p->count + 1);
    for (size_t i = 0; i < p->count; i++)
        map_set(numbers, l->keypoints[i], (void *)(uintptr_t)(i + 1));
    for (size_t i = 0; i < p->count; i++) {
        uint32_t other = partner_of(numbers, l->keypoints[i]);
        bool pair = other && partner_of(numbers, l->keypoints[other - 1]) == i + 1;
        p->of[i] = pair ? other - 1 : (uint32_t)i;
        any = any || pair;
    }
    map_free(numbers);
    return any ? p : NULL;
}

struct sides *sides_new(struct arena *a, const struct codec_label *labels, size_t n)
{
    struct sides *s = arena_new(a, struct sides);
    s->labels = map_new();
    for (size_t i = 0; i < n; i++) {
        struct partners *p = labels[i].keypoint_count ? pairs_of(a, &labels[i]) : NULL;
        if (p)
            map_set(s->labels, labels[i].name, p);
    }
    return s;
}

void sides_free(struct sides *s)
{
    if (s)
        map_free(s->labels);
}

bool sides_any(const struct sides *s)
{
    return map_count(s->labels) > 0;
}

static void swap_shape(const struct partners *p, struct shape *s)
{
    for (uint32_t i = 0; i < s->point_count && i < p->count; i++) {
        uint32_t other = p->of[i];
        if (other <= i || other >= s->point_count)
            continue;
        double kept[3];
        memcpy(kept, s->points[i], sizeof kept);
        memcpy(s->points[i], s->points[other], sizeof kept);
        memcpy(s->points[other], kept, sizeof kept);
    }
}

bool sides_swap(const struct sides *s, struct arena *a, enum annotation_type type, struct str json,
                struct str *ret_json, struct err *err)
{
    struct annotation n;
    if (!model_parse(a, type, json, &n, err))
        return false;
    for (uint32_t i = 0; i < n.shape_count; i++) {
        const struct partners *p = map_get(s->labels, n.shapes[i].label);
        if (n.shapes[i].kind == SHAPE_KEYPOINTS && p)
            swap_shape(p, &n.shapes[i]);
    }
    *ret_json = model_text(a, &n);
    return true;
}
