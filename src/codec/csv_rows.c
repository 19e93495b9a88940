#include "codec/csv_rows.h"

void csv_rows_init(struct csv_rows *c, struct str text)
{
    static const char candidates[] = {',', ';', '\t'};
    size_t most = 0;
    if (str_starts(text, "\xef\xbb\xbf"))
        text = (struct str){text.p + 3, text.n - 3};
    *c = (struct csv_rows){.text = text, .line = 1, .separator = ','};
    for (size_t k = 0; k < sizeof candidates; k++) {
        size_t n = 0;
        for (size_t i = 0; i < text.n && i < 65536 && text.p[i] != '\n'; i++)
            n += text.p[i] == candidates[k];
        if (n > most) {
            most = n;
            c->separator = candidates[k];
        }
    }
}

/* A field in quotes, from the quote; copied only when it has doubled quotes. */
static struct str quoted(struct csv_rows *c, struct arena *a, bool *ret_broken)
{
    size_t from = ++c->at, doubled = 0;
    for (; c->at < c->text.n; c->at++) {
        char ch = c->text.p[c->at];
        c->line += ch == '\n';
        if (ch != '"')
            continue;
        if (c->at + 1 >= c->text.n || c->text.p[c->at + 1] != '"')
            break;
        doubled++;
        c->at++;
    }
    struct str raw = {c->text.p + from, c->at - from};
    *ret_broken = *ret_broken || c->at >= c->text.n;
    if (c->at < c->text.n)
        c->at++;
    if (!doubled)
        return raw;
    char *p = arena_alloc(a, raw.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < raw.n; i++) {
        p[n++] = raw.p[i];
        if (raw.p[i] == '"')
            i++;
    }
    p[n] = 0;
    return (struct str){p, n};
}

static struct str plain(struct csv_rows *c)
{
    size_t from = c->at;
    while (c->at < c->text.n && c->text.p[c->at] != c->separator && c->text.p[c->at] != '\n')
        c->at++;
    return str_trim((struct str){c->text.p + from, c->at - from});
}

static void read_row(struct csv_rows *c, struct arena *a, struct csv_row *ret)
{
    ret->count = 0;
    ret->line = c->line;
    ret->broken = false;
    for (;;) {
        struct str field;
        if (c->at < c->text.n && c->text.p[c->at] == '"') {
            field = quoted(c, a, &ret->broken);
            struct str after = plain(c);
            ret->broken = ret->broken || after.n;
        } else {
            field = plain(c);
        }
        if (ret->count < CSV_COLUMNS_MAX)
            ret->fields[ret->count++] = field;
        if (c->at >= c->text.n)
            return;
        if (c->text.p[c->at++] == '\n') {
            c->line++;
            return;
        }
    }
}

bool csv_rows_next(struct csv_rows *c, struct arena *a, struct csv_row *ret)
{
    while (c->at < c->text.n) {
        read_row(c, a, ret);
        if (ret->count > 1 || ret->fields[0].n || ret->broken)
            return true;
    }
    return false;
}

void csv_put(struct buf *b, struct str field)
{
    bool plain = true;
    for (size_t i = 0; i < field.n; i++)
        plain = plain && !strchr(",;\"\n\r\t", field.p[i] ? field.p[i] : 'x');
    if (plain && str_trim(field).n == field.n) {
        buf_str(b, field);
        return;
    }
    buf_char(b, '"');
    for (size_t i = 0; i < field.n; i++) {
        if (field.p[i] == '"')
            buf_char(b, '"');
        buf_char(b, field.p[i]);
    }
    buf_char(b, '"');
}
