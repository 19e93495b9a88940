/* The filter language: whatever comes, the statement has as many `?` as values and no byte of the input. */
#include "core/filter.h"
#include "core/kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a;
    auto_sql struct sql s;
    struct err err = {0};
    arena_init(&a);
    sql_init(&s);
    sql_add(&s, "WHERE ");
    if (!filter_parse(&a, &kind_label_set, (struct str){(const char *)data, size}, &s, &err))
        return 0;
    size_t marks = 0;
    for (size_t i = 0; i < s.text.n; i++) {
        unsigned char c = (unsigned char)s.text.p[i];
        marks += c == '?';
        if (c == ';' || c == '\'' || c == '-' || c >= 0x80)
            abort();
    }
    if (marks != s.n)
        abort();
    return 0;
}
