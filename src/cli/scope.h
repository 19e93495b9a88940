/* Where the objects of a kind are: their path, the project they belong to, and the id behind a name. */
#ifndef INGOT_CLI_SCOPE_H
#define INGOT_CLI_SCOPE_H

#include "cli/cli.h"
#include "core/kind.h"

/* "label-set" for the kind label_set. */
char *scope_kind_word(struct arena *a, const struct kind *k);
/* The kind of a word: its name or plural, with '-' or '_'. */
const struct kind *scope_kind(struct str word);

/* The path of its list: "/users", "/projects/1/members"; parents come from the flag named like them. */
bool scope_path(struct cli *cli, const struct kind *k, const struct args *args, const char **ret,
                struct err *err);
/* Whether --project makes sense for it. */
bool scope_has_project(const struct kind *k);
/* The id of the chosen project (flag, environment, `ingot use`); 0 when none was chosen. */
bool scope_project(struct cli *cli, int64_t *ret, struct err *err);

/* A version that is named without its set: "cats:v2", "cats:2", "cats" for the newest, or its id. */
bool scope_is_version_alone(struct cli *cli, const struct kind *k, const struct args *args);
/* The id of the object called text: digits are an id, everything else (or =123) a name; a version is named by
 * its set, too: "cats:v2", or "cats" for its newest. */
bool scope_id(struct cli *cli, const struct kind *k, const struct args *args, const char *text, int64_t *ret,
              struct err *err);
/* What one object is called in lists and completions; STR_NULL when it has no name. */
struct str scope_name(const struct kind *k, yyjson_val *object);
/* A JSON string for the filter language. */
char *scope_quote(struct arena *a, struct str text);

#endif
