#include "core/account/people.h"

#include "base/json.h"
#include "core/account/permission.h"

#define PEOPLE_MOST 1000

const struct field people_fields[] = {
    {.name = "q",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE,
     .max = 50,
     .title = {"Beginning of the name", "名称前缀"}},
    {.name = "permission",
     .type = FIELD_TEXT,
     .flags = FIELD_CREATE,
     .max = 100,
     .title = {"Who may", "拥有权限"},
     .help = {"Only people with this permission, as annotation.update.",
              "仅列出拥有该权限的人员，如 annotation.update。"}},
    {0},
};

/* Rows come by user: all of one user's roles together. */
static void write_one(struct json_out *out, const struct db_rows *rows, size_t from, size_t to)
{
    const struct db_value *v = rows->row[from].v;
    json_object(out);
    json_kint(out, "id", v[0].i);
    json_kstr(out, "name", v[1].s);
    json_kstr(out, "display_name", v[2].type == DB_TEXT ? v[2].s : STR_NULL);
    json_key(out, "roles");
    json_array(out);
    for (size_t i = from; i < to; i++)
        json_string(out, rows->row[i].v[3].s);
    json_array_end(out);
    json_object_end(out);
}

static bool may(struct arena *a, const struct db_rows *rows, size_t from, size_t to, struct str permission)
{
    struct permission_set set = {{0}};
    if (!permission.n)
        return true;
    for (size_t i = from; i < to; i++)
        permission_parse(a, rows->row[i].v[4].s, &set);
    return permission_has(&set, permission_find(arena_strz(a, permission)));
}

bool people_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                int *status, struct err *err)
{
    (void)status;
    struct db_rows rows;
    struct str q = input[0].type == DB_TEXT ? input[0].s : STR(""),
               wanted = input[1].type == DB_TEXT ? input[1].s : STR_NULL;
    const char *end = arena_printf(op->arena, STR_FMT "\xf4\x8f\xbf\xbf", STR_ARG(q));
    size_t shown = 0;
    if (!db_query(op->core->db, op->arena,
                  "SELECT DISTINCT u.id, u.name, u.display_name, r.name, r.permissions FROM members m"
                  " JOIN roles r ON r.id = m.role LEFT JOIN group_members g ON g.\"group\" = m.\"group\""
                  " JOIN users u ON u.id = m.\"user\" OR u.id = g.\"user\""
                  " WHERE m.project = ? AND u.disabled = 0 AND u.name >= ? AND u.name < ?"
                  " ORDER BY u.name, u.id, r.name",
                  db_args(db_int(o->id), db_text(q), db_textz(end)), &rows, err))
        return false;
    json_object(out);
    json_key(out, "items");
    json_array(out);
    for (size_t from = 0, to; from < rows.n && shown < PEOPLE_MOST; from = to) {
        for (to = from + 1; to < rows.n && rows.row[to].v[0].i == rows.row[from].v[0].i;)
            to++;
        if (!may(op->arena, &rows, from, to, wanted))
            continue;
        write_one(out, &rows, from, to);
        shown++;
    }
    json_array_end(out);
    json_object_end(out);
    return true;
}
