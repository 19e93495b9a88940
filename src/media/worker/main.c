/* ingot-media MAX_MEMORY MAX_PIXELS: serves requests on descriptor 3 until it is closed or idle for 30 s. */
#include "media/wire.h"
#include "media/worker/worker.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <vips/vips.h>

#define SOCK    3
#define IDLE_MS 30000

/* Pictures first: their loaders know at once whether the bytes are theirs. */
static bool probe(struct work *w, struct err *err)
{
    struct err first = {0};
    if (image_probe(w, &first))
        return true;
    if (av_probe(w, err))
        return true;
    *err = first;
    return false;
}

static const struct {
    const char *name;
    bool (*run)(struct work *w, struct err *err);
} ops[] = {
    {"probe", probe},           {"thumbnail", image_thumbnail},
    {"measure", image_measure}, {"transform", image_transform},
    {"frames", av_frames},      {"tile", image_tile},
    {"peaks", av_peaks},
};

bool work_send_more(struct work *w, struct str json, struct str data, struct err *err)
{
    return wire_send(w->sock, json, data, -1, err);
}

static bool run(struct work *w, struct str text, struct err *err)
{
    w->request = json_parse(w->arena, text, err);
    if (!w->request)
        return false;
    struct str op = json_str(yyjson_obj_get(w->request, "op"));
    for (size_t i = 0; i < countof(ops); i++)
        if (str_is(op, ops[i].name))
            return ops[i].run(w, err);
    return err_set(err, ERR_INTERNAL, NULL, "unknown operation \"" STR_FMT "\"", STR_ARG(op));
}

static bool answer(struct work *w, bool ok, const struct err *problem)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    struct err err = {0};
    if (ok) {
        buf_printf(&text, "{" STR_FMT "}", STR_ARG(buf_view(w->answer)));
        return wire_send(w->sock, buf_view(&text), buf_view(w->data), -1, &err);
    }
    json_begin(&o, &text);
    json_object(&o);
    json_kz(&o, "error", problem->message);
    json_object_end(&o);
    return wire_send(w->sock, buf_view(&text), STR_NULL, -1, &err);
}

static bool serve_one(uint64_t max_pixels)
{
    auto_arena struct arena a;
    arena_init(&a);
    auto_buf struct buf text = {0}, none = {0}, members = {0}, data = {0};
    auto_fd int fd = -1;
    bool end;
    struct err err = {0};
    if (!wire_receive(SOCK, IDLE_MS, &text, &none, &fd, &end, &err))
        return false;
    struct work w = {
        .sock = SOCK, .fd = fd, .arena = &a, .max_pixels = max_pixels, .answer = &members, .data = &data};
    bool ok = fd >= 0 ? run(&w, buf_view(&text), &err) : err_set(&err, ERR_INTERNAL, NULL, "no input came");
    bool sent = answer(&w, ok, &err);
    vips_error_clear();
    return sent;
}

/* Too much memory ends the worker, not the machine. */
static void limit_memory(const char *text)
{
    uint64_t bytes;
#if !defined(__SANITIZE_ADDRESS__)
    if (str_to_u64(str_of(text), &bytes)) {
        struct rlimit r = {bytes, bytes};
        setrlimit(RLIMIT_AS, &r);
    }
#else
    (void)text;
    (void)bytes;
#endif
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
}

int main(int argc, char **argv)
{
    uint64_t max_pixels;
    if (argc != 3 || !str_to_u64(str_of(argv[2]), &max_pixels)) {
        fprintf(stderr, "ingot-media is started by ingot itself\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit_memory(argv[1]);
    if (VIPS_INIT(argv[0]) != 0)
        return 1;
    vips_block_untrusted_set(TRUE);
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    while (serve_one(max_pixels)) {
    }
    _exit(0);
}
