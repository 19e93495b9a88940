/* Facts of Unicode that the WordPiece tokenizer needs; scripts/unicode.py writes the tables when the program
 * is built. */
#ifndef INGOT_INFER_FOLD_H
#define INGOT_INFER_FOLD_H

#include <stddef.h>
#include <stdint.h>

struct fold_letters {
    uint32_t first, last;
    const uint32_t *to; /* the small letter without accents of each */
};
extern const struct fold_letters fold_letters[];
extern const size_t fold_letters_count;

struct fold_range {
    uint32_t first, last;
};
extern const struct fold_range fold_punctuation[]; /* beyond ASCII, ascending */
extern const size_t fold_punctuation_count;

#endif
