/* What manifest_guess.c and manifest_guess_ocr.c share: a manifest that is being guessed. */
#ifndef INGOT_MODEL_MANIFEST_GUESS_H
#define INGOT_MODEL_MANIFEST_GUESS_H

#include "model/manifest_fields.h"

#define GUESS_ASKED   16
#define GUESS_PARTS   3 /* the most that is guessed */
#define GUESS_OUTPUTS 3

struct guess {
    struct arena *a;
    const struct onnx_summary *s; /* of the one file */
    const struct str *files;      /* all of the version */
    size_t n_files;
    struct model_manifest m;
    struct model_part part[GUESS_PARTS];
    struct model_input in[GUESS_PARTS];
    struct model_output out[GUESS_OUTPUTS];
    struct model_asset asset;
    struct str *asked;
    size_t n_asked;
};

static inline int64_t guess_dim(const struct onnx_value *v, size_t i)
{
    return v->has_shape && i < v->n_dims ? v->dims[i].value : -1;
}

void guess_ask(struct guess *g, const char *field);
bool guess_has_operator(const struct onnx_summary *s, const char *name);
/* The first .txt file whose path has one of the words, the earlier words first; STR_NULL: there is none. */
struct str guess_text_file(const struct guess *g, const char *const *words);
struct model_asset *guess_asset(struct guess *g, struct str path);

/* A detector of text and a recogniser, and perhaps what tells lines that stand on their head; false: the
 * files are not that, and nothing was guessed. */
bool guess_ocr(struct guess *g, const struct model_seen *seen, size_t n);

#endif
