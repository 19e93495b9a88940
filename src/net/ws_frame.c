#include "net/ws_frame.h"

void ws_reader_init(struct ws_reader *r, size_t max_message,
                    bool (*frame)(void *ctx, enum ws_opcode opcode, struct str payload), void *ctx)
{
    *r = (struct ws_reader){.max_message = max_message, .frame = frame, .ctx = ctx};
}

void ws_reader_release(struct ws_reader *r)
{
    buf_release(&r->message);
    buf_release(&r->control);
}

static bool fail(struct ws_reader *r, int code)
{
    r->error = code;
    return false;
}

static enum ws_opcode opcode_of(const struct ws_reader *r)
{
    return (enum ws_opcode)(r->head[0] & 15);
}

static bool is_control(const struct ws_reader *r)
{
    return r->head[0] & 8;
}

/* How long the header is as far as it is known. */
static size_t head_size(const uint8_t *head, size_t known)
{
    if (known < 2)
        return 2;
    unsigned length = head[1] & 127;
    return 2 + (length == 126 ? 2 : length == 127 ? 8 : 0) + (head[1] & 0x80 ? 4 : 0);
}

static uint64_t payload_length(const uint8_t *head)
{
    unsigned length = head[1] & 127;
    unsigned more = length == 126 ? 2 : length == 127 ? 8 : 0;
    if (!more)
        return length;
    uint64_t n = 0;
    for (unsigned i = 0; i < more; i++)
        n = n << 8 | head[2 + i];
    return n;
}

/* As soon as the first two bytes are there. */
static bool check_start(struct ws_reader *r)
{
    bool final = r->head[0] & 0x80;
    unsigned length = r->head[1] & 127;
    enum ws_opcode op = opcode_of(r);
    if ((r->head[0] & 0x70) || !(r->head[1] & 0x80) != r->of_server)
        return fail(r, 1002);
    if (is_control(r))
        return (final && length <= 125 && op <= WS_PONG) || fail(r, 1002);
    if (op > WS_BINARY || (op == WS_CONTINUATION) != r->in_message)
        return fail(r, 1002);
    return true;
}

static bool check_head(struct ws_reader *r)
{
    unsigned length = r->head[1] & 127;
    uint64_t n = payload_length(r->head);
    if ((length == 126 && n < 126) || (length == 127 && (n <= UINT16_MAX || n >> 63)))
        return fail(r, 1002);
    if (!is_control(r) && (n > r->max_message || n > r->max_message - r->message.n))
        return fail(r, 1009);
    if (!is_control(r) && !r->in_message) {
        r->in_message = true;
        r->text = opcode_of(r) == WS_TEXT;
    }
    r->left = n;
    r->at = 0;
    r->in_payload = true;
    return true;
}

static void unmask(struct ws_reader *r, const char *p, size_t n)
{
    struct buf *to = is_control(r) ? &r->control : &r->message;
    static const uint8_t none[4] = {0};
    const uint8_t *mask = r->of_server ? none : r->head + head_size(r->head, r->head_n) - 4;
    buf_reserve(to, n);
    char *out = to->p + to->n;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)(p[i] ^ mask[(r->at + i) & 3]);
    to->n += n;
    r->at += n;
    r->left -= n;
}

static bool frame_done(struct ws_reader *r)
{
    bool final = r->head[0] & 0x80, control = is_control(r);
    enum ws_opcode op = control ? opcode_of(r) : r->text ? WS_TEXT : WS_BINARY;
    r->in_payload = false;
    r->head_n = 0;
    if (!final)
        return true;
    struct buf *b = control ? &r->control : &r->message;
    struct str payload = b->n ? buf_view(b) : STR("");
    if (!control)
        r->in_message = false;
    if (op == WS_TEXT && !utf8_valid(payload))
        return fail(r, 1007);
    bool go_on = r->frame(r->ctx, op, payload);
    if (b->cap > 64 * 1024)
        buf_release(b);
    else
        buf_clear(b);
    return go_on;
}

bool ws_reader_feed(struct ws_reader *r, const char *p, size_t n)
{
    while (n || (r->in_payload && !r->left)) {
        if (r->in_payload) {
            size_t take = n < r->left ? n : (size_t)r->left;
            if (take)
                unmask(r, p, take);
            p += take;
            n -= take;
            if (!r->left && !frame_done(r))
                return false;
            continue;
        }
        r->head[r->head_n++] = (uint8_t)*p++;
        n--;
        if (r->head_n == 2 && !check_start(r))
            return false;
        if (r->head_n >= 2 && r->head_n == head_size(r->head, r->head_n) && !check_head(r))
            return false;
    }
    return true;
}

size_t ws_head(enum ws_opcode opcode, uint64_t n, uint8_t ret[10])
{
    ret[0] = (uint8_t)(0x80 | opcode);
    if (n < 126) {
        ret[1] = (uint8_t)n;
        return 2;
    }
    unsigned more = n <= UINT16_MAX ? 2 : 8;
    ret[1] = more == 2 ? 126 : 127;
    for (unsigned i = 0; i < more; i++)
        ret[2 + i] = (uint8_t)(n >> (8 * (more - 1 - i)));
    return 2 + more;
}

bool ws_close_code_valid(unsigned code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

bool ws_watch_feed(struct ws_watch *w, struct str piece, uint64_t small)
{
    bool found = false;
    for (size_t i = 0; i < piece.n;) {
        if (w->left) {
            uint64_t step = piece.n - i < w->left ? piece.n - i : w->left;
            w->left -= step;
            i += step;
            continue;
        }
        w->head[w->head_n++] = (uint8_t)piece.p[i++];
        if (w->head_n < head_size(w->head, w->head_n))
            continue;
        w->left = payload_length(w->head);
        w->head_n = 0;
        found = found || (!(w->head[0] & 8) && w->left > small);
    }
    return found;
}
