#include "codec/xml.h"

enum { DEPTH_MAX = 64 };

struct parser {
    struct arena *a;
    struct str all;
    size_t at;
    const char *why;
};

static bool fail(struct parser *p, const char *why)
{
    p->why = why;
    return false;
}

static char peek(const struct parser *p)
{
    return p->at < p->all.n ? p->all.p[p->at] : 0;
}

static bool ahead(const struct parser *p, const char *z)
{
    size_t n = strlen(z);
    return p->all.n - p->at >= n && memcmp(p->all.p + p->at, z, n) == 0;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static void skip_space(struct parser *p)
{
    while (is_space(peek(p)))
        p->at++;
}

static bool skip_past(struct parser *p, const char *z)
{
    struct str rest = {p->all.p + p->at, p->all.n - p->at};
    ptrdiff_t found = str_find(rest, str_of(z));
    if (found < 0)
        return fail(p, "something that starts here does not end");
    p->at += (size_t)found + strlen(z);
    return true;
}

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ':' || (unsigned char)c >= 0x80;
}

static bool read_name(struct parser *p, struct str *ret)
{
    size_t from = p->at;
    while (name_char(peek(p)))
        p->at++;
    char first = p->at > from ? p->all.p[from] : '-';
    if (first == '-' || first == '.' || (first >= '0' && first <= '9'))
        return fail(p, "a name is expected");
    *ret = (struct str){p->all.p + from, p->at - from};
    return true;
}

static void put_utf8(struct buf *b, uint32_t c)
{
    if (c < 0x80) {
        buf_char(b, (char)c);
    } else if (c < 0x800) {
        buf_char(b, (char)(0xc0 | c >> 6));
        buf_char(b, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        buf_char(b, (char)(0xe0 | c >> 12));
        buf_char(b, (char)(0x80 | (c >> 6 & 0x3f)));
        buf_char(b, (char)(0x80 | (c & 0x3f)));
    } else {
        buf_char(b, (char)(0xf0 | c >> 18));
        buf_char(b, (char)(0x80 | (c >> 12 & 0x3f)));
        buf_char(b, (char)(0x80 | (c >> 6 & 0x3f)));
        buf_char(b, (char)(0x80 | (c & 0x3f)));
    }
}

static int digit(char c, int base)
{
    int d = c >= '0' && c <= '9'   ? c - '0'
            : c >= 'a' && c <= 'f' ? c - 'a' + 10
            : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                   : 99;
    return d < base ? d : -1;
}

static bool character(struct parser *p, struct str ref, struct buf *b)
{
    bool hex = ref.n > 1 && ref.p[1] == 'x';
    uint32_t c = 0;
    size_t i = hex ? 2 : 1;
    if (i == ref.n)
        return fail(p, "a character reference without digits");
    for (; i < ref.n; i++) {
        int d = digit(ref.p[i], hex ? 16 : 10);
        if (d < 0 || c > 0x10ffff)
            return fail(p, "a character reference that is no character");
        c = c * (hex ? 16 : 10) + (uint32_t)d;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000) || (c < 0x20 && c != 9 && c != 10 && c != 13))
        return fail(p, "a character reference that is no character");
    put_utf8(b, c);
    return true;
}

/* &lt; and so on, from the ampersand. */
static bool reference(struct parser *p, struct buf *b)
{
    static const struct {
        const char *name;
        char c;
    } known[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    size_t end = p->at + 1;
    while (end < p->all.n && end - p->at < 12 && p->all.p[end] != ';')
        end++;
    if (end >= p->all.n || p->all.p[end] != ';')
        return fail(p, "'&' does not begin a reference");
    struct str ref = {p->all.p + p->at + 1, end - p->at - 1};
    p->at = end + 1;
    if (ref.n && ref.p[0] == '#')
        return character(p, ref, b);
    for (size_t i = 0; i < countof(known); i++) {
        if (str_is(ref, known[i].name)) {
            buf_char(b, known[i].c);
            return true;
        }
    }
    return fail(p, "an entity that is not built in");
}

/* Attributes up to '>' or '/>': well-formed, values dropped. */
static bool attributes(struct parser *p, bool *ret_empty)
{
    for (;;) {
        struct str name;
        skip_space(p);
        if (ahead(p, "/>")) {
            p->at += 2;
            *ret_empty = true;
            return true;
        }
        if (peek(p) == '>') {
            p->at++;
            *ret_empty = false;
            return true;
        }
        if (!read_name(p, &name))
            return false;
        skip_space(p);
        if (peek(p) != '=')
            return fail(p, "'=' is expected");
        p->at++;
        skip_space(p);
        char quote = peek(p);
        if (quote != '"' && quote != '\'')
            return fail(p, "a quote is expected");
        p->at++;
        if (!skip_past(p, (char[]){quote, 0}))
            return false;
    }
}

/* Comments and processing instructions; *ret_done when there was one. */
static bool misc(struct parser *p, bool *ret_done)
{
    *ret_done = true;
    if (ahead(p, "<!--"))
        return skip_past(p, "-->");
    if (ahead(p, "<?"))
        return skip_past(p, "?>");
    *ret_done = false;
    return true;
}

struct open_element {
    struct xml_node *node, *last;
    struct buf text;
};

static bool close_element(struct parser *p, struct open_element *e)
{
    struct str name;
    p->at += 2;
    if (!read_name(p, &name))
        return false;
    skip_space(p);
    if (peek(p) != '>' || !str_eq(name, e->node->name))
        return fail(p, "an element is closed by another's name");
    p->at++;
    return true;
}

static bool character_data(struct parser *p, struct open_element *e)
{
    if (ahead(p, "<![CDATA[")) {
        size_t from = p->at + 9;
        if (!skip_past(p, "]]>"))
            return false;
        buf_add(&e->text, p->all.p + from, p->at - 3 - from);
        return true;
    }
    if (peek(p) == '&')
        return reference(p, &e->text);
    size_t from = p->at;
    while (p->at < p->all.n && p->all.p[p->at] != '<' && p->all.p[p->at] != '&')
        p->at++;
    buf_add(&e->text, p->all.p + from, p->at - from);
    return true;
}

static bool open_tag(struct parser *p, struct open_element *e, bool *ret_empty)
{
    p->at++;
    *e = (struct open_element){.node = arena_new(p->a, struct xml_node)};
    return read_name(p, &e->node->name) && attributes(p, ret_empty);
}

static void finish(struct parser *p, struct open_element *e)
{
    e->node->text = e->text.n ? arena_str(p->a, buf_view(&e->text)) : STR("");
    buf_release(&e->text);
}

/* The elements, with a stack of those that are open. */
static bool elements(struct parser *p, struct open_element *stack, int *depth)
{
    bool empty, done;
    if (peek(p) != '<' || !open_tag(p, &stack[0], &empty))
        return fail(p, p->why ? p->why : "an element is expected");
    if (empty) {
        finish(p, &stack[0]);
        return true;
    }
    *depth = 1;
    while (*depth > 0) {
        struct open_element *top = &stack[*depth - 1];
        if (p->at >= p->all.n)
            return fail(p, "it ends in the middle");
        if (ahead(p, "</")) {
            if (!close_element(p, top))
                return false;
            finish(p, top);
            --*depth;
            continue;
        }
        if (!misc(p, &done))
            return false;
        if (done)
            continue;
        if (peek(p) != '<' || ahead(p, "<![CDATA[")) {
            if (!character_data(p, top))
                return false;
            continue;
        }
        if (*depth == DEPTH_MAX)
            return fail(p, "nested deeper than 64 levels");
        struct open_element *e = &stack[*depth];
        if (!open_tag(p, e, &empty))
            return false;
        *(top->last ? &top->last->next : &top->node->children) = e->node;
        top->last = e->node;
        if (empty)
            finish(p, e);
        else
            ++*depth;
    }
    return true;
}

static bool prolog(struct parser *p)
{
    for (bool done = true; done;) {
        skip_space(p);
        if (!misc(p, &done))
            return false;
    }
    return !ahead(p, "<!DOCTYPE") || fail(p, "a document type declaration is not accepted");
}

const struct xml_node *xml_parse(struct arena *a, struct str text, struct err *err)
{
    struct open_element stack[DEPTH_MAX + 1] = {0};
    if (str_starts(text, "\xef\xbb\xbf"))
        text = (struct str){text.p + 3, text.n - 3};
    struct parser p = {.a = a, .all = text};
    int depth = 0;
    bool ok = utf8_valid(text) ? prolog(&p) && elements(&p, stack, &depth) : fail(&p, "it is not UTF-8");
    for (int i = 0; i < DEPTH_MAX + 1; i++)
        buf_release(&stack[i].text);
    if (ok) {
        ok = prolog(&p); /* comments may follow */
        if (ok && p.at < text.n)
            ok = fail(&p, "something follows the end");
    }
    if (ok)
        return stack[0].node;
    size_t line = 1;
    for (size_t i = 0; i < p.at && i < text.n; i++)
        line += text.p[i] == '\n';
    err_set(err, ERR_MALFORMED, NULL, "not valid XML at line %zu: %s", line, p.why);
    return NULL;
}

const struct xml_node *xml_child(const struct xml_node *n, const char *name)
{
    for (n = n ? n->children : NULL; n; n = n->next)
        if (str_is(n->name, name))
            return n;
    return NULL;
}

struct str xml_text(const struct xml_node *n)
{
    return n && n->text.p ? n->text : STR("");
}

void xml_escape(struct buf *b, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '<')
            buf_z(b, "&lt;");
        else if (c == '>')
            buf_z(b, "&gt;");
        else if (c == '&')
            buf_z(b, "&amp;");
        else if (c == '"')
            buf_z(b, "&quot;");
        else if (c == '\'')
            buf_z(b, "&apos;");
        else if ((unsigned char)c >= 0x20 || c == '\n' || c == '\t')
            buf_char(b, c);
    }
}
