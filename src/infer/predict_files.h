/* Predict over files without HTTP: what a service would answer, a line per file in the order given, by as
 * many threads as are asked for. A file that fails has a line with the reason, and the others go on. Memory
 * is that of the files that are worked on: a thread that is far ahead of the slowest waits. */
#ifndef INGOT_INFER_PREDICT_FILES_H
#define INGOT_INFER_PREDICT_FILES_H

#include "infer/file_list.h"
#include "infer/served.h"
#include "infer/task.h"

#define PREDICT_MAX_FILE ((size_t)256 << 20) /* bytes of one */

struct predict_files {
    struct served *model; /* with a manifest */
    const struct file_list *files;
    struct task_options options;
    unsigned threads;
    const char *processor; /* told in the first line, with what the times were measured; NULL: not known */
    int out;               /* descriptor that the lines are written to */
    /* About once a second, and at the end, from the calling thread; NULL: nobody asks. */
    void (*progress)(void *ctx, size_t done, size_t failed, size_t total);
    void *ctx;
};

/* Writes a first line {"ingot":1,"type","labels","threads","processor"}, then
 * {"file","width","height","us","annotation"} or {"file","error"} each; us: microseconds from the file's
 * bytes to the annotation, with so many threads beside each other. false when it cannot be written. */
bool predict_files(const struct predict_files *p, size_t *ret_failed, struct err *err);

#endif
