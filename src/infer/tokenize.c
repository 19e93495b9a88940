#include "infer/tokenize.h"

#include "base/messages.h"

static int64_t id_of(const struct model_asset *vocab, const char *token, int64_t given)
{
    if (given >= 0)
        return given;
    int64_t id = vocab ? model_asset_find(vocab, str_of(token)) : -1;
    return id >= 0 ? id : 0;
}

static void pad(struct tokens *t, size_t length, int64_t id)
{
    t->used = t->n;
    for (; t->n < length; t->n++)
        t->ids[t->n] = id;
}

static void wordpiece(struct arena *a, const struct model_input *in, struct str text, struct tokens *t)
{
    t->ids = arena_array(a, int64_t, in->length);
    t->ids[0] = id_of(in->vocab, "[CLS]", -1);
    t->n = 1 + tokenize_wordpiece(in->vocab, in->lowercase, id_of(in->vocab, "[UNK]", in->unknown_id), text,
                                  t->ids + 1, in->length - 2);
    t->ids[t->n++] = id_of(in->vocab, "[SEP]", -1);
    pad(t, in->pad_to_length ? in->length : 0, id_of(in->vocab, "[PAD]", in->pad_id));
}

static void characters(struct arena *a, const struct model_input *in, struct str text, struct tokens *t)
{
    int64_t unknown = id_of(in->vocab, "[UNK]", in->unknown_id);
    t->ids = arena_array(a, int64_t, in->length);
    for (size_t at = 0; at < text.n && t->n < in->length; t->n++) {
        size_t n = utf8_sequence((struct str){text.p + at, text.n - at});
        int64_t id = model_asset_find(in->vocab, (struct str){text.p + at, n});
        t->ids[t->n] = id >= 0 ? id : unknown;
        at += n;
    }
    pad(t, in->pad_to_length ? in->length : 1, id_of(in->vocab, "[PAD]", in->pad_id));
}

/* --- hashed n-grams --- */
#define NGRAM_MOST  4000 /* code points of a text that count */
#define NGRAM_LARGE 4    /* the longest n-gram */

/* White space collapsed, full width and capitals folded, a space at each end. */
static size_t fold_text(struct str text, uint32_t *ret)
{
    size_t n = 0, read = 0;
    ret[n++] = ' ';
    for (size_t at = 0; at < text.n && read < NGRAM_MOST; read++) {
        uint32_t c = utf8_next(text, &at);
        if (c >= 0xff01 && c <= 0xff5e)
            c -= 0xfee0;
        if (c >= 'A' && c <= 'Z')
            c += 'a' - 'A';
        if (c <= 0x20 || c == 0xa0 || c == 0x3000 || c == 0xfeff || c == 0x200b)
            c = ' ';
        if (c != ' ' || ret[n - 1] != ' ')
            ret[n++] = c;
    }
    if (ret[n - 1] != ' ')
        ret[n++] = ' ';
    return n;
}

static uint32_t hash_ngram(const uint32_t *c, uint32_t n)
{
    uint32_t h = 0x811C9DC5u + n * 0x9E3779B9u;
    for (uint32_t i = 0; i < n; i++)
        h = (h ^ c[i]) * 0x01000193u;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
    return h & (TOKENIZE_BUCKETS - 1);
}

/* In the order of their first occurrence; beyond `length` different ones are left out. */
static void ngrams(struct arena *a, const struct model_input *in, struct str text, struct tokens *t)
{
    uint32_t *c = arena_alloc(a, sizeof *c * (NGRAM_MOST + 2));
    uint32_t *place = arena_array(a, uint32_t, TOKENIZE_BUCKETS); /* 1 + where in the result */
    size_t length = fold_text(text, c);
    t->ids = arena_array(a, int64_t, in->length);
    t->counts = arena_array(a, float, in->length);
    for (uint32_t n = 1; n <= NGRAM_LARGE; n++) {
        for (size_t i = 0; i + n <= length; i++) {
            uint32_t h = hash_ngram(c + i, n);
            if (!place[h] && t->n < in->length) {
                t->ids[t->n++] = h;
                place[h] = (uint32_t)t->n;
            }
            if (place[h])
                t->counts[place[h] - 1]++;
        }
    }
    pad(t, in->pad_to_length ? in->length : 0, in->pad_id >= 0 ? in->pad_id : TOKENIZE_BUCKETS);
}

static void (*const tokenizers[])(struct arena *a, const struct model_input *in, struct str text,
                                  struct tokens *t) = {
    [MODEL_WORDPIECE] = wordpiece,
    [MODEL_NGRAMS] = ngrams,
    [MODEL_CHARACTERS] = characters,
};

bool tokenize(struct arena *a, const struct model_input *in, struct str text, struct tokens *ret,
              struct err *err)
{
    if (text.n > TOKENIZE_MAX_BYTES)
        return err_set(err, ERR_TOO_LARGE, "text", "a text has at most %u bytes", TOKENIZE_MAX_BYTES);
    if (!utf8_valid(text))
        return err_message(err, ERR_INVALID, "text", MESSAGE_TEXT_UTF8);
    struct tokens t = {0};
    tokenizers[in->tokenizer](a, in, text, &t);
    *ret = t;
    return true;
}
