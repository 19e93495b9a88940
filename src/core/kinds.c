#include "core/kinds.h"

#include "core/account/accounts.h"
#include "core/compute/node.h"
#include "core/data/layer.h"
#include "core/demo/demo.h"
#include "core/environment/environment.h"
#include "core/environment/tool.h"
#include "core/evaluate/evaluate.h"
#include "core/folder/folder.h"
#include "core/image/image.h"
#include "core/job/job.h"
#include "core/label/label.h"
#include "core/runtime/runtime.h"
#include "core/serve/serve.h"
#include "core/task/task.h"
#include "core/training/training.h"

#include <stdio.h>

const struct kind *const kinds[] = {
    &kind_user,
    &kind_group,
    &kind_group_member,
    &kind_role,
    &kind_project,
    &kind_member,
    &kind_token,
    &kind_session,
    &kind_label_set,
    &kind_label_example,
    &kind_spec,
    &kind_node_pool,
    &kind_node,
    &kind_audit,
    &kind_algorithm_set,
    &kind_algorithm_version,
    &kind_model_set,
    &kind_model_version,
    &kind_task,
    &kind_dataset,
    &kind_dataset_version,
    &kind_layer,
    &kind_team,
    &kind_label_task,
    &kind_job,
    &kind_training,
    &kind_training_instance,
    &kind_image,
    &kind_image_version,
    &kind_runtime,
    &kind_tool,
    &kind_demo,
    &kind_environment,
    &kind_service,
    &kind_service_version,
    &kind_service_key,
    &kind_evaluation,
};
const size_t kind_count = countof(kinds);

const struct kind *kind_by_name(struct str name)
{
    for (size_t i = 0; i < kind_count; i++)
        if (str_is(name, kinds[i]->name))
            return kinds[i];
    return NULL;
}

const struct kind *kind_by_plural(struct str plural, const struct kind *parent)
{
    for (size_t i = 0; i < kind_count; i++) {
        const struct kind *k = kinds[i];
        bool fits = parent ? k->parent && strcmp(k->parent, parent->name) == 0 : !k->parent;
        if (fits && str_is(plural, k->plural))
            return k;
    }
    return NULL;
}

size_t kind_field_count(const struct kind *k)
{
    size_t n = 0;
    while (k->fields[n].name)
        n++;
    return n;
}

const struct field *kind_field(const struct kind *k, struct str name, size_t *ret_index)
{
    for (size_t i = 0; k->fields[i].name; i++) {
        if (!str_is(name, k->fields[i].name))
            continue;
        if (ret_index)
            *ret_index = i;
        return &k->fields[i];
    }
    return NULL;
}

const char *kind_permission(struct arena *a, const struct kind *k, const char *verb)
{
    return arena_printf(a, "%s.%s", k->permission_as ? k->permission_as : k->name, verb);
}

bool kind_is_project(const struct kind *k)
{
    return strcmp(k->name, "project") == 0;
}

bool kind_has_project(const struct kind *k)
{
    if (k->scope == SCOPE_PROJECT)
        return true;
    if (k->scope != SCOPE_CHILD || strcmp(k->parent, "project") == 0)
        return false;
    return kind_has_project(kind_by_name(str_of(k->parent)));
}

const char *kind_collection(const struct kind *k, char ret[KIND_COLLECTION_MAX])
{
    if (k->scope != SCOPE_CHILD || !kind_has_project(k) || !(k->verbs & VERB_LIST))
        return NULL;
    const char *last = strrchr(k->name, '_');
    snprintf(ret, KIND_COLLECTION_MAX, "%.*s%s", last ? (int)(last + 1 - k->name) : 0, k->name, k->plural);
    for (char *p = ret; *p; p++)
        *p = *p == '_' ? '-' : *p;
    return ret;
}

const struct kind *kind_by_collection(struct str path)
{
    char word[KIND_COLLECTION_MAX];
    for (size_t i = 0; i < kind_count; i++)
        if (kind_collection(kinds[i], word) && str_is(path, word))
            return kinds[i];
    return NULL;
}

const struct field *kind_name_field(const struct kind *k)
{
    return k->fields[0].type == FIELD_TEXT && !(k->fields[0].flags & FIELD_VIRTUAL) ? &k->fields[0] : NULL;
}
