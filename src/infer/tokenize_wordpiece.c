/* BERT's WordPiece: words at spaces and punctuation, then the longest pieces of the vocabulary. */
#include "base/buf.h"
#include "infer/fold.h"
#include "infer/tokenize.h"

#define MAX_WORD 100 /* characters; longer ones are unknown */

struct splitter {
    const struct model_asset *vocab;
    bool lowercase;
    int64_t unknown;
    struct buf word;
    size_t letters;
    int64_t *ret;
    size_t n, max;
};

static bool is_space(uint32_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000;
}

/* What is taken out: control characters, zero width ones, what could not be read. */
static bool is_nothing(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0xad || c == 0xfffd || c == 0xfeff ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x2064);
}

static bool is_ideograph(uint32_t c)
{
    return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x20000 && c <= 0x2a6df) ||
           (c >= 0x2a700 && c <= 0x2ceaf) || (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

static bool is_punctuation(uint32_t c)
{
    if (c < 0x80)
        return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
    for (size_t i = 0; i < fold_punctuation_count && fold_punctuation[i].first <= c; i++)
        if (c <= fold_punctuation[i].last)
            return true;
    return false;
}

static uint32_t fold(uint32_t c)
{
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + 32 : c;
    for (size_t i = 0; i < fold_letters_count; i++)
        if (c >= fold_letters[i].first && c <= fold_letters[i].last)
            return fold_letters[i].to[c - fold_letters[i].first];
    return c;
}

static void put(struct buf *b, uint32_t c)
{
    if (c < 0x80) {
        buf_char(b, (char)c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    buf_char(b, (char)(lead[more] | c >> (6 * more)));
    while (more-- > 0)
        buf_char(b, (char)(0x80 | (c >> (6 * more) & 0x3f)));
}

/* The longest piece of the vocabulary that the rest begins with; its bytes, 0: none. */
static size_t longest(const struct splitter *s, size_t from, struct buf *piece, int64_t *ret)
{
    for (size_t end = s->word.n; end > from; end--) {
        if (end < s->word.n && ((uint8_t)s->word.p[end] & 0xc0) == 0x80)
            continue;
        buf_clear(piece);
        if (from)
            buf_z(piece, "##");
        buf_add(piece, s->word.p + from, end - from);
        *ret = model_asset_find(s->vocab, buf_view(piece));
        if (*ret >= 0)
            return end - from;
    }
    return 0;
}

static void end_word(struct splitter *s)
{
    auto_buf struct buf piece = {0};
    int64_t ids[MAX_WORD];
    size_t n = 0;
    if (s->letters > MAX_WORD) {
        ids[n++] = s->unknown;
    } else {
        for (size_t from = 0, step; from < s->word.n; from += step) {
            step = longest(s, from, &piece, &ids[n]);
            if (!step) {
                ids[0] = s->unknown;
                n = 1;
                break;
            }
            n++;
        }
    }
    for (size_t i = 0; i < n && s->n < s->max; i++)
        s->ret[s->n++] = ids[i];
    buf_clear(&s->word);
    s->letters = 0;
}

static void add_letter(struct splitter *s, uint32_t c)
{
    if (s->letters++ <= MAX_WORD)
        put(&s->word, c);
}

size_t tokenize_wordpiece(const struct model_asset *vocab, bool lowercase, int64_t unknown, struct str text,
                          int64_t *ret, size_t max)
{
    struct splitter s = {.vocab = vocab, .lowercase = lowercase, .unknown = unknown, .ret = ret, .max = max};
    for (size_t at = 0; at < text.n && s.n < max;) {
        uint32_t c = utf8_next(text, &at);
        if (is_space(c)) {
            end_word(&s);
            continue;
        }
        if (is_nothing(c) || (lowercase && c >= 0x300 && c <= 0x36f))
            continue;
        if (lowercase)
            c = fold(c);
        if (is_punctuation(c) || is_ideograph(c)) {
            end_word(&s);
            add_letter(&s, c);
            end_word(&s);
        } else {
            add_letter(&s, c);
        }
    }
    end_word(&s);
    buf_release(&s.word);
    return s.n;
}
