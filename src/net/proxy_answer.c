#include "net/proxy_answer.h"

#include "net/proxy_head.h"

#define MAX_HEADER  (64 * 1024)
#define MAX_HEADERS 256
#define TEXT_USUAL  1000 /* as HEAD_USUAL */

static struct proxy_answer *answer_of(llhttp_t *ll)
{
    return container_of(ll, struct proxy_answer, ll);
}

static int on_begin(llhttp_t *ll)
{
    struct proxy_answer *a = answer_of(ll);
    a->count = 0;
    a->interim = false;
    buf_clear(&a->text);
    return 0;
}

static int add_text(struct proxy_answer *a, const char *at, size_t n, uint32_t *length)
{
    if (a->head_done)
        return 0; /* trailers */
    if (a->text.n + n > MAX_HEADER)
        return HPE_USER;
    buf_add(&a->text, at, n);
    *length += (uint32_t)n;
    return 0;
}

static bool room_for_span(struct proxy_answer *a)
{
    if (a->count >= MAX_HEADERS)
        return false;
    if (a->count == a->cap) {
        a->cap = a->cap ? a->cap * 2 : 32;
        a->spans = base_realloc(a->spans, a->cap * sizeof *a->spans);
    }
    a->spans[a->count] = (struct proxy_span){.name = (uint32_t)a->text.n};
    return true;
}

static int on_field(llhttp_t *ll, const char *at, size_t n)
{
    struct proxy_answer *a = answer_of(ll);
    if (a->head_done)
        return 0;
    /* A new one when the last has got its value. */
    if (!a->in_field && !room_for_span(a))
        return HPE_USER;
    a->in_field = true;
    return add_text(a, at, n, &a->spans[a->count].name_n);
}

static int on_field_complete(llhttp_t *ll)
{
    struct proxy_answer *a = answer_of(ll);
    if (!a->head_done)
        a->spans[a->count].value = (uint32_t)a->text.n;
    return 0;
}

static int on_value(llhttp_t *ll, const char *at, size_t n)
{
    struct proxy_answer *a = answer_of(ll);
    return a->head_done ? 0 : add_text(a, at, n, &a->spans[a->count].value_n);
}

static int on_value_complete(llhttp_t *ll)
{
    struct proxy_answer *a = answer_of(ll);
    if (a->head_done)
        return 0;
    a->in_field = false;
    a->count++;
    return 0;
}

static int on_head(llhttp_t *ll)
{
    struct proxy_answer *a = answer_of(ll);
    a->status = ll->status_code;
    if (a->status < 100 || a->status > 999 || (a->status == 101 && !a->upgrade_asked))
        return HPE_USER;
    a->interim = a->status < 200 && a->status != 101;
    if (a->interim)
        return 1;
    a->head_done = true;
    bool sized = ll->flags & F_CONTENT_LENGTH;
    a->length = sized && ll->content_length <= INT64_MAX ? (int64_t)ll->content_length : -1;
    a->keep_alive = llhttp_should_keep_alive(ll);
    a->skip_body = a->head_request || a->status == 101;
    ll->upgrade = 0;
    return HPE_PAUSED;
}

static int on_body(llhttp_t *ll, const char *at, size_t n)
{
    struct proxy_answer *a = answer_of(ll);
    return !n || a->piece(a->ctx, (struct str){at, n}) ? 0 : HPE_PAUSED;
}

static int on_done(llhttp_t *ll)
{
    struct proxy_answer *a = answer_of(ll);
    if (a->interim)
        return 0;
    a->done = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_message_begin = on_begin,
    .on_header_field = on_field,
    .on_header_field_complete = on_field_complete,
    .on_header_value = on_value,
    .on_header_value_complete = on_value_complete,
    .on_headers_complete = on_head,
    .on_body = on_body,
    .on_message_complete = on_done,
};

void proxy_answer_init(struct proxy_answer *a, bool head_request, bool upgrade_asked,
                       bool (*piece)(void *ctx, struct str piece), void *ctx)
{
    *a = (struct proxy_answer){.head_request = head_request,
                               .upgrade_asked = upgrade_asked,
                               .length = -1,
                               .piece = piece,
                               .ctx = ctx};
    llhttp_init(&a->ll, HTTP_RESPONSE, &settings);
    buf_reserve(&a->text, TEXT_USUAL);
}

void proxy_answer_release(struct proxy_answer *a)
{
    buf_release(&a->text);
    free(a->spans);
    a->spans = NULL;
    a->count = a->cap = 0;
}

enum proxy_event proxy_answer_feed(struct proxy_answer *a, const char *p, size_t n, size_t *ret_used)
{
    a->started |= n > 0;
    *ret_used = 0;
    if (a->head_told && a->skip_body) {
        a->done = true;
        return PROXY_DONE;
    }
    llhttp_errno_t e = llhttp_execute(&a->ll, p, n);
    if (e == HPE_OK) {
        *ret_used = n;
        return PROXY_MORE;
    }
    const char *pos = llhttp_get_error_pos(&a->ll);
    *ret_used = pos >= p && pos <= p + n ? (size_t)(pos - p) : n;
    if (e != HPE_PAUSED)
        return PROXY_BAD;
    llhttp_resume(&a->ll);
    if (a->head_done && !a->head_told) {
        a->head_told = true;
        return PROXY_HEAD;
    }
    return a->done ? PROXY_DONE : PROXY_PAUSED;
}

bool proxy_answer_eof(struct proxy_answer *a)
{
    if (a->done)
        return true;
    if (!a->head_done || !llhttp_message_needs_eof(&a->ll))
        return false;
    llhttp_errno_t e = llhttp_finish(&a->ll);
    return e == HPE_OK || (e == HPE_PAUSED && a->done);
}

static struct str text_of(const struct proxy_answer *a, uint32_t at, uint32_t n)
{
    return (struct str){a->text.p + at, n};
}

struct header *proxy_answer_headers(const struct proxy_answer *a, struct arena *arena, bool websocket_key,
                                    const struct proxy_target *t, size_t *ret_n)
{
    struct header *list = arena_array(arena, struct header, a->count + PROXY_ROOM);
    struct str connection = STR_NULL;
    size_t n = 0;
    for (unsigned i = 0; i < a->count; i++) {
        const struct proxy_span *s = &a->spans[i];
        if (str_ieq(text_of(a, s->name, s->name_n), STR("connection")))
            connection = text_of(a, s->value, s->value_n);
    }
    for (unsigned i = 0; i < a->count; i++) {
        const struct proxy_span *s = &a->spans[i];
        struct str name = text_of(a, s->name, s->name_n);
        if (proxy_drops_answer_header(name, connection, a->status == 101))
            continue;
        if (websocket_key && str_ieq(name, STR("sec-websocket-accept")))
            continue;
        if (t->guarded && proxy_guards_answer_header(name, text_of(a, s->value, s->value_n), t))
            continue;
        list[n++] =
            (struct header){arena_str(arena, name), arena_str(arena, text_of(a, s->value, s->value_n))};
    }
    *ret_n = n;
    return list;
}
