/* Lines of what a model found, as they come out of its container, and the index of an evaluation's details.
 */
#include "core/evaluate/found.h"
#include "metric/matches.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void lines(struct str text)
{
    while (text.n) {
        auto_arena struct arena a = {0};
        struct found_line line;
        struct err err = {0};
        struct str one = str_cut(text, '\n', &text);
        if (found_parse(&a, one, &line, &err)) {
            if (!line.head && (!line.file.n || !line.annotation.n))
                abort();
        } else if (!err.message[0]) {
            abort();
        }
    }
}

static void index_of(struct str bytes)
{
    struct matches *m;
    struct err err = {0};
    if (!matches_read(bytes, &m, &err))
        return;
    auto_arena struct arena a = {0};
    struct matches_query q = {.score = 0.5, .label = SIZE_MAX};
    size_t n;
    matches_pick(m, &q, &a, &n);
    if (n > m->sample_count)
        abort();
    matches_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str all = {(const char *)data, size};
    lines(all);
    index_of(all);
    return 0;
}
