/* All tokenizers on any bytes: numbers stay in the vocabulary, lengths within the limit. The first line is
 * the text, the others are the vocabulary. */
#include "infer/tokenize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool give(void *ctx, struct str path, size_t max, struct arena *a, struct str *ret, struct err *err)
{
    (void)path;
    (void)max;
    (void)a;
    (void)err;
    *ret = *(struct str *)ctx;
    return true;
}

static void one(struct arena *a, struct model_asset *vocab, enum model_tokenizer which, struct str text)
{
    struct model_input in = {.tokenizer = which,
                             .vocab = vocab,
                             .lowercase = text.n % 2,
                             .length = 2 + (uint32_t)(text.n % 50),
                             .pad_to_length = text.n % 3 == 0,
                             .pad_id = -1,
                             .unknown_id = -1};
    struct tokens t;
    struct err err = {0};
    if (!tokenize(a, &in, text, &t, &err))
        return;
    int64_t most = which == MODEL_NGRAMS ? TOKENIZE_BUCKETS : (int64_t)vocab->n_lines;
    if (t.n > in.length || t.used > t.n)
        abort();
    for (size_t i = 0; i < t.n; i++)
        if (t.ids[i] < 0 || (t.ids[i] > most && t.ids[i]))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct str rest, text = str_cut((struct str){(const char *)data, size}, '\n', &rest);
    struct model_asset vocab = {.path = STR("vocab.txt")};
    struct model_input in = {.vocab = &vocab};
    struct model_manifest m = {.assets = &vocab, .n_assets = 1, .inputs = &in, .n_inputs = 1};
    if (!rest.p)
        rest = STR("");
    if (!model_manifest_assets(&m, &a, give, &rest, &err))
        return 0;
    for (int i = 0; i <= MODEL_CHARACTERS; i++)
        one(&a, &vocab, (enum model_tokenizer)i, text);
    return 0;
}
