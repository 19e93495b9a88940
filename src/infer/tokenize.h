/* Texts to numbers: WordPiece, hashed n-grams, characters; docs/models.md defines each. */
#ifndef INGOT_INFER_TOKENIZE_H
#define INGOT_INFER_TOKENIZE_H

#include "model/manifest.h"

#define TOKENIZE_MAX_BYTES (4u << 20)
#define TOKENIZE_BUCKETS   0x40000u /* of hashed n-grams; also the number of padding */

struct tokens {
    int64_t *ids;   /* n of them, padding included */
    float *counts;  /* of n-grams; NULL otherwise */
    size_t n, used; /* the first `used` are no padding */
};

/* The text is UTF-8 (ERR_INVALID otherwise), the vocabulary was read. */
bool tokenize(struct arena *a, const struct model_input *in, struct str text, struct tokens *ret,
              struct err *err);

/* WordPiece alone, without [CLS], [SEP] and padding; at most `max` tokens. Unknown words are `unknown`. */
size_t tokenize_wordpiece(const struct model_asset *vocab, bool lowercase, int64_t unknown, struct str text,
                          int64_t *ret, size_t max);

#endif
