/* Files of one JSON object a line. */
#include "codec/reader.h"

#include <stdio.h>

#define TELL_EVERY 1000 /* lines */

typedef bool line_fn(struct reader_sample *s, yyjson_val *v, size_t number, struct err *err);

static bool read_line(struct codec_reader *r, struct str source, struct str text, size_t number, line_fn *fn,
                      struct err *err)
{
    struct reader_sample s;
    struct err bad;
    bool ok = true;
    yyjson_val *v = NULL;
    reader_sample_init(&s, r, source);
    snprintf(s.position, sizeof s.position, "line %zu", number);
    if (text.n > ANNOTATION_MAX_BYTES)
        reader_skip(r, source, str_of(s.position), "it is longer than %u bytes", ANNOTATION_MAX_BYTES);
    else if (!(v = json_parse(&s.arena, text, &bad)))
        reader_skip(r, source, str_of(s.position), "%s", bad.message);
    else if (!yyjson_is_obj(v))
        reader_skip(r, source, str_of(s.position), "it is not an object");
    else
        ok = fn(&s, v, number, err);
    reader_sample_release(&s);
    return ok;
}

bool reader_json_lines(struct codec_reader *r, size_t file, line_fn *line, struct err *err)
{
    struct str text;
    if (!reader_open(r, file, &text, err))
        return false;
    bool ok = true;
    const char *told = text.p;
    struct str rest = text;
    for (size_t n = 1; ok && rest.p; n++) {
        struct str one = str_trim(str_cut(rest, '\n', &rest));
        ok = !one.n || read_line(r, reader_path(r, file), one, n, line, err);
        if (ok && n % TELL_EVERY == 0 && rest.p) {
            reader_done(r, text, rest.p);
            ok = reader_progress(r, (uint64_t)(rest.p - told), err);
            told = rest.p;
        }
    }
    ok = ok && reader_progress(r, text.n - (size_t)(told - text.p), err);
    reader_close(r, file, text);
    return ok;
}
