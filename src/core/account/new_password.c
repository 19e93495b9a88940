#include "core/account/new_password.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "core/access.h"
#include "core/account/accounts.h"
#include "core/account/password.h"
#include "core/account/user.h"
#include "core/controllers.h"
#include "core/engine.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REQUEST  "new-password"
#define ANSWER   "new-password.answer"
#define FILE_MAX 4096
#define LOOK_NS  INT64_C(100000000)

static const char *file_of(const char *data, const char *name, struct arena *a)
{
    return arena_printf(a, "%s/%s", data, name);
}

/* --- taking it --- */

struct change {
    struct str user, hash;
};

static bool write_change(struct op *op, void *ctx, struct err *err)
{
    const struct change *c = ctx;
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena, "SELECT id FROM users WHERE name = ?", db_args(db_text(c->user)),
                        &row, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no user \"" STR_FMT "\"", STR_ARG(c->user));
    const int64_t id = row.v[0].i;
    return user_set_password(op, id, c->hash, err) &&
           engine_audit(op, "reset-password", kind_user.name, id, c->user, 0,
                        STR("{\"from\":\"the data folder\"}"), err);
}

static bool take(struct core *core, struct str text, struct arena *a, struct err *err)
{
    yyjson_val *v = json_parse(a, text, err);
    struct change c = {json_str(yyjson_obj_get(v, "user")), json_str(yyjson_obj_get(v, "hash"))};
    if (!v)
        return false;
    if (!c.user.n || !c.hash.n)
        return err_set(err, ERR_MALFORMED, NULL, "%s is no request for a password", REQUEST);
    return engine_write(core, &caller_system, a, write_change, &c, err);
}

static bool answer(struct core *core, const struct err *why, struct arena *a, struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    json_object(&o);
    json_kz(&o, "error", why->code ? why->message : "");
    json_object_end(&o);
    return fs_write_atomic(file_of(core->data, ANSWER, a), buf_view(&text), 0600, err);
}

bool new_password_take(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    struct str text;
    struct err why = {0};
    arena_init(&a);
    if (faccessat(core->data_fd, REQUEST, F_OK, 0) != 0)
        return true;
    auto_fd int fd = fs_open_beneath(core->data_fd, REQUEST, O_RDONLY | O_CLOEXEC, 0, err);
    if (fd < 0 || !fs_read(&a, file_of(core->data, REQUEST, &a), FILE_MAX, &text, err))
        return false;
    take(core, text, &a, &why);
    return unlinkat(core->data_fd, REQUEST, 0) == 0 ? answer(core, &why, &a, err)
                                                    : err_errno(err, errno, "%s/" REQUEST, core->data);
}

const struct controller controller_new_passwords = {
    .name = "new-passwords",
    .title = {"Sets passwords that were asked for on this machine (ingot admin password)",
              "设置在本机请求的新密码（ingot admin password）"},
    .thread = "accounts",
    .every_s = 1,
    .tick = new_password_take,
};

/* --- asking for it --- */

/* The server may run as another user than root, who asks. */
static bool leave_request(const struct new_password *p, struct str hash, struct arena *a, struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    struct stat st;
    const char *path = file_of(p->data, REQUEST, a), *part = file_of(p->data, REQUEST ".part", a);
    json_begin(&o, &text);
    json_object(&o);
    json_kstr(&o, "user", p->user);
    json_kstr(&o, "hash", hash);
    json_object_end(&o);
    unlink(file_of(p->data, ANSWER, a));
    if (!fs_write_atomic(part, buf_view(&text), 0600, err))
        return false;
    return (stat(p->data, &st) == 0 && chown(part, st.st_uid, st.st_gid) == 0 && rename(part, path) == 0) ||
           err_errno(err, errno, "%s", path);
}

/* False, without an error, while there is none. */
static bool read_answer(const struct new_password *p, struct arena *a, struct err *err)
{
    struct str text;
    const char *path = file_of(p->data, ANSWER, a);
    if (access(path, F_OK) != 0)
        return false;
    yyjson_val *v = fs_read(a, path, FILE_MAX, &text, err) ? json_parse(a, text, err) : NULL;
    if (!v)
        return false;
    unlink(path);
    struct str why = json_str(yyjson_obj_get(v, "error"));
    return why.n == 0 || err_set(err, ERR_NOT_FOUND, NULL, STR_FMT, STR_ARG(why));
}

/* False with ERR_HELD when a server has the folder. */
static bool take_here(const struct new_password *p, struct arena *a, struct err *err)
{
    const struct core_options o = {.data = p->data, .db_url = p->db_url, .accounts_only = true};
    const char *none;
    struct core *core = core_open(&o, a, &none, err);
    bool ok = core && new_password_take(core, err);
    core_close(core);
    return ok;
}

static bool wait_for_answer(const struct new_password *p, struct arena *a, struct err *err)
{
    const int64_t until = clock_now() + p->wait_s * INT64_C(1000000);
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    while (!read_answer(p, a, err)) {
        if (err->code)
            return false;
        nanosleep(&pause, NULL);
        if (clock_now() < until)
            continue;
        unlink(file_of(p->data, REQUEST, a));
        return err_set(err, ERR_UNAVAILABLE, NULL,
                       "the server that holds %s, or its database, did not answer", p->data);
    }
    return true;
}

static bool is_data_folder(const struct new_password *p, struct arena *a, struct err *err)
{
    if (access(file_of(p->data, "lock", a), F_OK) != 0)
        return err_set(err, ERR_NOT_FOUND, NULL, "%s is no data folder of ingot: name it by --data DIR",
                       p->data);
    return p->db_url || access(file_of(p->data, "ingot.db", a), F_OK) == 0 ||
           err_set(err, ERR_NOT_FOUND, NULL, "%s has no ingot.db: give the --db of `ingot serve` here too",
                   p->data);
}

bool new_password_set(const struct new_password *p, struct arena *a, struct err *err)
{
    struct str hash;
    struct err held = {0};
    if (!password_rule(p->password, "password", err) || !is_data_folder(p, a, err) ||
        !password_hash(a, p->password, &hash, err) || !leave_request(p, hash, a, err))
        return false;
    if (!take_here(p, a, &held) && held.code != ERR_HELD) {
        unlink(file_of(p->data, REQUEST, a));
        *err = held;
        return false;
    }
    return wait_for_answer(p, a, err);
}
