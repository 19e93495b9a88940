/* Every declaration of a kind keeps the rules that the generic code relies on. */
#include "core/kinds.h"
#include "core/rule.h"
#include "core/schema.h"
#include "core/validate.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static bool common(const char *name)
{
    static const char *const names[] = {"id", "revision", "created_at", "updated_at", "created_by"};
    for (size_t i = 0; i < countof(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void check_field(const struct kind *k, const struct field *f)
{
    auto_arena struct arena a;
    struct err err = {0};
    struct db_value value;
    arena_init(&a);
    if (common(f->name) || (k->parent && strcmp(k->parent, f->name) == 0))
        fail_msg("%s.%s: every kind has this column", k->name, f->name);
    if (!f->title.en || !f->title.zh)
        fail_msg("%s.%s: has no title in both languages", k->name, f->name);
    if (f->rule && !rule_find(f->rule))
        fail_msg("%s.%s: there is no rule %s", k->name, f->name, f->rule);
    if ((f->type == FIELD_REF || f->type == FIELD_REFS) && !kind_by_name(str_of(f->ref)))
        fail_msg("%s.%s: refers to a kind that does not exist", k->name, f->name);
    if ((f->type == FIELD_CHOICE) != (f->choices != NULL))
        fail_msg("%s.%s: choices belong to the type choice", k->name, f->name);
    if (f->flags & FIELD_SECRET && f->flags & (FIELD_LIST | FIELD_FILTER | FIELD_SEARCH | FIELD_SORT))
        fail_msg("%s.%s: a secret is never shown or searched", k->name, f->name);
    if (f->flags & FIELD_SECRET && !(f->flags & FIELD_EDIT))
        fail_msg("%s.%s: a secret is given by clients; the platform's own are internal", k->name, f->name);
    if (f->flags & (FIELD_STATUS | FIELD_INTERNAL) &&
        f->flags & (FIELD_EDIT | FIELD_REQUIRED | FIELD_UNIQUE | FIELD_VIRTUAL))
        fail_msg("%s.%s: status and internal fields are columns that only the platform writes", k->name,
                 f->name);
    if (f->flags & FIELD_INTERNAL && f->flags & (FIELD_LIST | FIELD_FILTER | FIELD_SEARCH | FIELD_SORT))
        fail_msg("%s.%s: an internal field is never shown or searched", k->name, f->name);
    yyjson_val *v = f->fallback ? json_parse(&a, str_of(f->fallback), &err) : NULL;
    if (f->fallback && (!v || (!yyjson_is_null(v) && !validate_value(&a, f, v, &value, &err))))
        fail_msg("%s.%s: the fallback is wrong: %s", k->name, f->name, err.message);
}

static void declarations_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < kind_count; i++) {
        const struct kind *k = kinds[i];
        assert_ptr_equal(kind_by_name(str_of(k->name)), k);
        const struct kind *parent = k->parent ? kind_by_name(str_of(k->parent)) : NULL;
        assert_true((k->scope == SCOPE_CHILD) == (parent != NULL));
        assert_ptr_equal(kind_by_plural(str_of(k->plural), parent), k);
        char path[KIND_COLLECTION_MAX];
        if (kind_collection(k, path)) {
            assert_ptr_equal(kind_by_collection(str_of(path)), k);
            assert_null(kind_by_plural(str_of(path), NULL));
        }
        assert_true(k->title.en && k->title.zh && k->titles.en && k->titles.zh && k->table);
        for (const struct field *f = k->fields; f->name; f++)
            check_field(k, f);
        if (k->public_too)
            assert_non_null(kind_field(k, STR("public"), NULL));
        for (const struct action *act = k->actions; act && act->name; act++)
            assert_true(act->permission && act->run && act->title.en && act->title.zh);
    }
}

static void new_fields_become_columns(void **state)
{
    (void)state;
    auto_buf struct buf made = {0}, widened = {0};
    static const char *const old[] = {"id",         "revision", "created_at", "updated_at",
                                      "created_by", "project",  "name"};
    schema_write(&kind_label_set, NULL, 0, &made);
    assert_non_null(strstr(made.p, "CREATE TABLE \"label_sets\""));
    assert_non_null(strstr(made.p, "\"project\" BIGINT NOT NULL"));
    assert_non_null(strstr(
        made.p, "UNIQUE INDEX IF NOT EXISTS \"label_sets_name_unique\" ON \"label_sets\" (\"project\", "
                "\"name\")"));
    schema_write(&kind_label_set, old, countof(old), &widened);
    assert_null(strstr(widened.p, "CREATE TABLE"));
    assert_non_null(strstr(widened.p, "ADD COLUMN \"labels\" {text}"));
    assert_null(strstr(widened.p, "ADD COLUMN \"name\""));
}

static void children_are_listed_by_project(void **state)
{
    (void)state;
    auto_buf struct buf made = {0};
    schema_write(kind_by_name(STR("model_version")), NULL, 0, &made);
    assert_non_null(strstr(made.p, "\"model_versions_scope\" ON \"model_versions\" (\"model_set\", \"id\")"));
    assert_non_null(
        strstr(made.p, "\"model_versions_project_scope\" ON \"model_versions\" (\"project\", \"id\")"));
    assert_non_null(strstr(made.p, "\"model_versions_project_name_sort\" ON \"model_versions\" (\"project\", "
                                   "\"name\", \"id\")"));
    assert_null(kind_by_collection(STR("project-members")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declarations_are_sound),
        cmocka_unit_test(new_fields_become_columns),
        cmocka_unit_test(children_are_listed_by_project),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
