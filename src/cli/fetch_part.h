/* The parts that `ingot fetch` has the server bring: tools and runtimes. Models it makes itself (fetch.c). */
#ifndef INGOT_CLI_FETCH_PART_H
#define INGOT_CLI_FETCH_PART_H

#include "cli/cli.h"

/* One row of what the server has of such parts; bytes are to be fetched. */
struct fetch_part {
    const char *name, *what, *state;
    struct str title;
    int64_t bytes, installed_bytes;
    double minutes;
    const char *path;   /* of the object */
    const char *action; /* that brings it */
};
/* All of them, in the arena; none where one is signed in nowhere. */
bool fetch_parts(struct cli *cli, struct fetch_part **ret, size_t *ret_n, struct err *err);
/* Says what it costs, begins it and waits with progress. */
bool fetch_part_bring(struct cli *cli, const struct fetch_part *p, struct err *err);

/* Is it the name of a tool? They go into archives of their own, which this machine writes without a server.
 */
bool fetch_part_is_tool(const char *name);
const char *const *fetch_part_tools(struct cli *cli); /* their names, NULL at the end */
bool fetch_part_archive(struct cli *cli, const char *file, const struct args *args, struct err *err);
/* Archives of tools are compressed, those of models are not. */
bool fetch_part_is_archive(const char *file);
bool fetch_part_import(struct cli *cli, const char *file, struct err *err);

#endif
