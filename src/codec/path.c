#include "codec/path.h"

#include <stdio.h>
#include <strings.h>

bool path_has_ending(struct str path, const char *ending)
{
    size_t n = strlen(ending);
    return path.n > n && strncasecmp(path.p + path.n - n, ending, n) == 0;
}

struct str path_dir(struct str path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return (struct str){path.p, i - 1};
    return STR("");
}

struct str path_base(struct str path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return (struct str){path.p + i, path.n - i};
    return path;
}

struct str path_stem(struct str path)
{
    struct str base = path_base(path);
    for (size_t i = base.n; i > 1; i--)
        if (base.p[i - 1] == '.')
            return (struct str){base.p, i - 1};
    return base;
}

struct str path_bare(struct str path)
{
    return (struct str){path.p, path.n - (path_base(path).n - path_stem(path).n)};
}

/* A folder: "train", "train2017". */
static bool is_word(struct str part, const char *word)
{
    size_t n = strlen(word);
    if (part.n < n || strncasecmp(part.p, word, n) != 0)
        return false;
    while (n < part.n && part.p[n] >= '0' && part.p[n] <= '9')
        n++;
    return n == part.n;
}

/* A file: "train.json", "instances_val2017.json": the word between separators or digits. */
static bool has_word(struct str part, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= part.n; i++) {
        bool before = i == 0 || strchr("_-. ", part.p[i - 1]);
        char next = i + n < part.n ? part.p[i + n] : '.';
        if (before && strncasecmp(part.p + i, word, n) == 0 &&
            (strchr("_-. ", next) || (next >= '0' && next <= '9')))
            return true;
    }
    return false;
}

static const struct {
    const char *word;
    enum codec_split split;
} words[] = {
    {"train", CODEC_TRAIN},  {"training", CODEC_TRAIN}, {"trainval", CODEC_TRAIN}, {"val", CODEC_VAL},
    {"valid", CODEC_VAL},    {"validation", CODEC_VAL}, {"dev", CODEC_VAL},        {"test", CODEC_TEST},
    {"testing", CODEC_TEST}, {"evaluate", CODEC_TEST},
};

static enum codec_split split_of(struct str path, bool annotation)
{
    for (struct str rest = path; rest.p;) {
        struct str part = str_cut(rest, '/', &rest);
        for (size_t i = 0; i < countof(words); i++)
            if (rest.p ? is_word(part, words[i].word) : annotation && has_word(part, words[i].word))
                return words[i].split;
    }
    return CODEC_SPLIT_NONE;
}

bool path_is_part(struct str folder)
{
    for (size_t i = 0; i < countof(words); i++)
        if (is_word(folder, words[i].word))
            return true;
    return false;
}

enum codec_split path_split(struct str path)
{
    return split_of(path, false);
}

enum codec_split path_file_split(struct str path)
{
    return split_of(path, true);
}

bool path_join(char *out, size_t cap, struct str dir, struct str name, struct str *ret)
{
    size_t n = 0;
    struct str parts[2] = {dir, name};
    for (int i = 0; i < 2; i++) {
        for (struct str rest = parts[i]; rest.p;) {
            struct str part = str_cut(rest, '/', &rest);
            if (!part.n || str_is(part, "."))
                continue;
            if (str_is(part, "..")) {
                if (!n)
                    return false;
                n = path_dir((struct str){out, n}).n;
                continue;
            }
            if (n + part.n + 2 > cap)
                return false;
            if (n)
                out[n++] = '/';
            memcpy(out + n, part.p, part.n);
            n += part.n;
        }
    }
    *ret = (struct str){out, n};
    return n > 0;
}

bool path_clean(struct arena *a, struct str path, struct str *ret)
{
    char out[2048];
    struct str clean;
    if (memchr(path.p, 0, path.n) || !path_join(out, sizeof out, STR(""), path, &clean))
        return false;
    *ret = arena_str(a, clean);
    return true;
}

bool path_ends_with(struct str path, struct str tail)
{
    return path.n >= tail.n && memcmp(path.p + path.n - tail.n, tail.p, tail.n) == 0 &&
           (path.n == tail.n || path.p[path.n - tail.n - 1] == '/');
}

bool path_only_holds(struct str folder)
{
    static const char *const words[] = {"images", "image",  "imgs", "img",   "jpegimages", "pictures",
                                        "photos", "frames", "data", "texts", "audio",      "files"};
    for (size_t i = 0; i < countof(words); i++)
        if (str_ieq(folder, str_of(words[i])))
            return true;
    return false;
}

struct str path_core(struct str path)
{
    for (;;) {
        struct str rest, folder = str_cut(path, '/', &rest);
        if (!rest.n || (!path_is_part(folder) && !path_only_holds(folder)))
            return path;
        path = rest;
    }
}
