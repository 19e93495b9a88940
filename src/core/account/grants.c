#include "core/account/grants.h"

#include "base/buf.h"
#include "base/messages.h"

/* What any signed-in user may do, besides all that concerns their own objects (SCOPE_OWN). Lists of
 * projects show only one's own. */
static const char *const everyone[] = {"project.read", "spec.read", "runtime.read", "tool.read"};
/* And what users need that may add members to a project of theirs. */
static const char *const inviters[] = {"user.read", "group.read", "role.read"};

static void add_named(struct permission_set *set, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ptrdiff_t index = permission_find(names[i]);
        if (index >= 0)
            permission_add(set, index);
    }
}

static void add_everyone(struct grants *g)
{
    for (size_t i = 0; i < permission_count(); i++)
        if (permission_at(i)->kind && permission_at(i)->kind->scope == SCOPE_OWN)
            permission_add(&g->everyone, (ptrdiff_t)i);
    add_named(&g->everyone, everyone, countof(everyone));
    ptrdiff_t invite = permission_find("member.create");
    for (size_t i = 0; i < g->count; i++)
        if (permission_has(&g->projects[i].may, invite)) {
            add_named(&g->everyone, inviters, countof(inviters));
            break;
        }
}

static bool load_user(struct db_conn *c, struct grants *g, bool *ret_disabled, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(c, &g->arena,
                        "SELECT u.name, u.administrator, u.disabled, r.permissions FROM users u "
                        "LEFT JOIN roles r ON r.id = u.platform_role WHERE u.id = ?",
                        db_args(db_int(g->user)), &row, &found, err))
        return false;
    *ret_disabled = !found || row.v[2].i;
    if (!found)
        return true;
    g->name = arena_strz(&g->arena, row.v[0].s);
    g->administrator = row.v[1].i != 0;
    if (g->administrator)
        g->platform = permission_all();
    else if (row.v[3].type == DB_TEXT)
        permission_parse(&g->arena, row.v[3].s, &g->platform);
    return true;
}

static bool load_projects(struct db_conn *c, struct grants *g, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(c, &g->arena,
                    "SELECT p.id, p.name, r.name, r.permissions, r.id FROM members m "
                    "JOIN projects p ON p.id = m.project JOIN roles r ON r.id = m.role "
                    "WHERE m.\"user\" = ? OR m.\"group\" IN "
                    "(SELECT gm.\"group\" FROM group_members gm WHERE gm.\"user\" = ?) ORDER BY p.id, r.id",
                    db_args(db_int(g->user), db_int(g->user)), &rows, err))
        return false;
    g->projects = arena_array(&g->arena, struct grant, rows.n + 1);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v, *before = i > 0 ? rows.row[i - 1].v : NULL;
        if (before && before[0].i == v[0].i && before[4].i == v[4].i)
            continue; /* the same role, through a group too */
        bool first = !before || before[0].i != v[0].i;
        struct grant *in = &g->projects[first ? g->count++ : g->count - 1];
        in->project = v[0].i;
        in->name = arena_strz(&g->arena, v[1].s);
        in->role = first ? arena_strz(&g->arena, v[2].s)
                         : arena_printf(&g->arena, "%s, " STR_FMT, in->role, STR_ARG(v[2].s));
        permission_parse(&g->arena, v[3].s, &in->may);
    }
    struct permission_set in_projects = permission_of_projects();
    for (size_t i = 0; i < g->count; i++)
        permission_narrow(&g->projects[i].may, &in_projects);
    return true;
}

static void narrow(struct grants *g)
{
    permission_narrow(&g->platform, &g->scopes);
    permission_narrow(&g->everyone, &g->scopes);
    for (size_t i = 0; i < g->count; i++)
        permission_narrow(&g->projects[i].may, &g->scopes);
}

static bool load(struct core *core, struct grants *g, struct err *err)
{
    struct db_conn *c = db_read_begin(core->db, err);
    if (!c)
        return false;
    bool disabled = false, ok = load_user(c, g, &disabled, err) && load_projects(c, g, err);
    db_read_end(core->db, c);
    if (ok && disabled)
        return err_set(err, ERR_UNAUTHORIZED, NULL, "the user does not exist or is disabled");
    return ok;
}

bool grants_load(struct core *core, int64_t user, struct str scopes, uint64_t generation, struct grants **ret,
                 struct err *err)
{
    struct grants *g = base_zalloc(sizeof *g);
    atomic_init(&g->refs, 1);
    arena_init(&g->arena);
    g->generation = generation;
    g->user = user;
    if (!load(core, g, err)) {
        grants_unref(g);
        return false;
    }
    add_everyone(g);
    g->narrowed = scopes.n > 0 && !str_is(str_trim(scopes), "[]");
    if (!g->narrowed) {
        g->scopes = permission_all();
    } else {
        permission_parse(&g->arena, scopes, &g->scopes);
        narrow(g);
    }
    *ret = g;
    return true;
}

/* Only what was read; the rest is the job's: */
static bool confine(struct core *core, struct grants *g, int64_t project, struct err *err)
{
    struct db_row row;
    bool found;
    struct permission_set may = grants_in(g, project), most = {{0}}, in_projects = permission_of_projects();
    if (!db_query_one(core->db, &g->arena,
                      "SELECT r.permissions, p.name FROM roles r, projects p WHERE r.name = 'member' AND "
                      "r.built_in = 1 AND p.id = ?",
                      db_args(db_int(project)), &row, &found, err))
        return false;
    if (found)
        permission_parse(&g->arena, row.v[0].s, &most);
    permission_narrow(&most, &in_projects);
    permission_narrow(&may, &most);
    if (!permission_has(&may, permission_find("project.read")))
        return err_message(err, ERR_UNAUTHORIZED, NULL, MESSAGE_JOB_USER_GONE);
    g->projects = arena_new(&g->arena, struct grant);
    g->projects[0] = (struct grant){project, arena_strz(&g->arena, row.v[1].s), "job", may};
    g->count = 1;
    g->only = project;
    g->administrator = false;
    g->platform = g->everyone = (struct permission_set){{0}};
    add_named(&g->everyone, everyone, countof(everyone));
    g->narrowed = true;
    g->scopes = may;
    permission_unite(&g->scopes, &g->everyone);
    return true;
}

bool grants_load_job(struct core *core, int64_t user, int64_t project, uint64_t generation,
                     struct grants **ret, struct err *err)
{
    struct grants *g;
    if (!grants_load(core, user, STR_NULL, generation, &g, err))
        return false;
    if (!confine(core, g, project, err)) {
        grants_unref(g);
        return false;
    }
    *ret = g;
    return true;
}

struct grants *grants_ref(struct grants *g)
{
    atomic_fetch_add_explicit(&g->refs, 1, memory_order_relaxed);
    return g;
}

void grants_unref(struct grants *g)
{
    if (!g || atomic_fetch_sub_explicit(&g->refs, 1, memory_order_acq_rel) != 1)
        return;
    arena_release(&g->arena);
    free(g);
}

const struct grant *grants_find(const struct grants *g, int64_t project)
{
    size_t low = 0, high = g->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (g->projects[middle].project < project)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->count && g->projects[low].project == project ? &g->projects[low] : NULL;
}

/* --- no more than oneself --- */
/* What of part is not in set; NULL when all of it is. */
static const char *beyond(const struct permission_set *set, const struct permission_set *part)
{
    for (size_t i = 0; i < permission_count(); i++)
        if (permission_has(part, (ptrdiff_t)i) && !permission_has(set, (ptrdiff_t)i))
            return permission_at(i)->name;
    return NULL;
}

static bool more(const struct grants *g, const char *permission, struct err *err)
{
    return err_message(err, ERR_FORBIDDEN, NULL, MESSAGE_USER_MAY_MORE, g->name, permission);
}

static bool covers(const struct grants *own, const struct grants *other, struct err *err)
{
    /* What every user may is held on the platform alone; a platform role holds in every project too. */
    struct permission_set holds = own->everyone, of_projects = permission_of_projects();
    for (size_t i = 0; i < PERMISSION_WORDS; i++)
        holds.word[i] &= ~of_projects.word[i];
    permission_unite(&holds, &own->platform);
    const char *missing = beyond(&holds, &other->platform);
    if (missing)
        return more(other, missing, err);
    for (size_t i = 0; i < other->count; i++) {
        holds = grants_in(own, other->projects[i].project);
        missing = beyond(&holds, &other->projects[i].may);
        if (missing) /* the project's name is a secret to users that are not in it */
            return more(other, missing, err);
    }
    return true;
}

bool grants_cover(struct op *op, int64_t user, struct err *err)
{
    const struct grants *own = grants_of(op->caller);
    bool disabled, ok;
    if (!own || op->caller->administrator)
        return true;
    struct grants other = {.user = user};
    arena_init(&other.arena);
    ok = load_user(op->conn, &other, &disabled, err) && load_projects(op->conn, &other, err) &&
         covers(own, &other, err);
    arena_release(&other.arena);
    return ok;
}

bool grants_may(const struct grants *g, ptrdiff_t permission, int64_t project)
{
    if (permission_has(&g->platform, permission))
        return true;
    if (project == 0)
        return permission_has(&g->everyone, permission);
    const struct grant *in = grants_find(g, project);
    return in && permission_has(&in->may, permission);
}

struct permission_set grants_in(const struct grants *g, int64_t project)
{
    struct permission_set set = g->platform;
    const struct grant *in = project ? grants_find(g, project) : NULL;
    if (project == 0)
        permission_unite(&set, &g->everyone);
    else if (in)
        permission_unite(&set, &in->may);
    return set;
}
