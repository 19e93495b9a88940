/* When keys of services were used last: loop threads note it, a controller writes it now and then. */
#include "core/controllers.h"
#include "core/engine.h"
#include "core/serve/gate.h"
#include "core/serve/serve.h"

struct use {
    int64_t key, at;
};

struct uses {
    struct arena arena;
    struct use *items;
    size_t n, cap;
};

static void note(void *ctx, int64_t key, int64_t at)
{
    struct uses *u = ctx;
    if (u->n == u->cap) {
        size_t cap = u->cap ? 2 * u->cap : 64;
        u->items = arena_grow(&u->arena, u->items, u->cap * sizeof *u->items, cap * sizeof *u->items);
        u->cap = cap;
    }
    u->items[u->n++] = (struct use){key, at};
}

static bool write_uses(struct op *op, void *ctx, struct err *err)
{
    const struct uses *u = ctx;
    for (size_t i = 0; i < u->n; i++)
        if (!engine_set_status(op, &kind_service_key, u->items[i].key,
                               ENGINE_STATUSES(status_set("last_used_at", db_int(u->items[i].at))), err))
            return false;
    return true;
}

static bool tick(struct core *core, struct err *err)
{
    struct uses u = {0};
    arena_init(&u.arena);
    serve_keys_used(core, note, &u);
    bool ok = u.n == 0 || engine_write(core, &caller_system, &u.arena, write_uses, &u, err);
    arena_release(&u.arena);
    return ok;
}

/* What the last requests used. */
static void stop(struct core *core)
{
    struct err ignored = {0};
    tick(core, &ignored);
}

const struct controller controller_key_uses = {
    .name = "key-uses",
    .title = {"Note when keys of services were used", "记录服务密钥的使用时间"},
    .thread = "traffic",
    .first_s = 5,
    .every_s = 5,
    .after_requests = true,
    .tick = tick,
    .stop = stop,
};
