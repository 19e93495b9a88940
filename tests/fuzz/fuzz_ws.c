/* The WebSocket reader: first byte is the size of the pieces it is fed. */
#include "net/ws_frame.h"

static bool on_frame(void *ctx, enum ws_opcode opcode, struct str payload)
{
    (void)ctx;
    if (opcode == WS_TEXT && !utf8_valid(payload))
        abort();
    if (payload.n > (opcode >= WS_CLOSE ? 125 : 1000))
        abort();
    return opcode != WS_CLOSE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n)
        return 0;
    size_t step = data[0] + 1;
    struct ws_reader r;
    ws_reader_init(&r, 1000, on_frame, NULL);
    for (size_t at = 1; at < n; at += step)
        if (!ws_reader_feed(&r, (const char *)data + at, step < n - at ? step : n - at))
            break;
    ws_reader_release(&r);
    return 0;
}
