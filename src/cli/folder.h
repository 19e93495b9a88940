/* Folders of code and of models from a shell: upload (folder.c) and download (folder_out.c). */
#ifndef INGOT_CLI_FOLDER_H
#define INGOT_CLI_FOLDER_H

#include "cli/bundle.h"
#include "cli/verb.h"

extern const struct flag folder_upload_flags[];
#define FOLDER_UPLOAD_FLAGS 3

/* A file or a folder becomes files of a version: of the newest that is not published, else of a new one. A
 * set that does not exist is made. */
bool folder_upload(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                   struct err *err);

/* A set that exists. */
struct folder_target {
    const struct kind *kind;
    int64_t set, project;
    const char *name;
};
/* Sends all files into a new version of the set and publishes it: "v2" in *ret. On failure the version stays,
 * unpublished. */
bool folder_publish(struct cli *cli, const struct folder_target *to, struct bundle *files, const char **ret,
                    struct err *err);

extern const struct flag folder_download_flags[];
#define FOLDER_DOWNLOAD_FLAGS 3

/* All files of a version, the newest unless it is named, into a folder. */
bool folder_download(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                     struct err *err);

#endif
