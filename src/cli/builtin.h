/* Public model sets of the project "built-in", through the API: what `ingot fetch` installs. */
#ifndef INGOT_CLI_BUILTIN_H
#define INGOT_CLI_BUILTIN_H

#include "cli/cli.h"

#define BUILTIN_PROJECT "built-in"

struct builtin {
    const char *name;   /* of the set */
    const char *folder; /* plain files only, no folders */
    struct str title, scenario;
    /* out */
    const char *version; /* "v2" */
    bool was_there;      /* its newest version has these very files */
};

/* The id of the project, which is made where it is missing. */
bool builtin_project(struct cli *cli, int64_t *ret, struct err *err);
/* Whether the caller is signed in and may make what is missing, before anything is fetched. */
bool builtin_may(struct cli *cli, struct err *err);
/* The newest published version of the set, NULL when it is not installed. */
bool builtin_version(struct cli *cli, const char *name, const char **ret, struct err *err);
/* Makes project and set where they are missing, and a published version when the newest has other files. What
 * an interrupted run left unpublished is deleted. */
bool builtin_install(struct cli *cli, struct builtin *b, struct err *err);

#endif
