/* The verbs of kinds: list, get, create, update, delete, and the kind's actions. What a verb is called, which
 * flags it takes and how it is used is known here once; help and completion read it too. */
#ifndef INGOT_CLI_VERB_H
#define INGOT_CLI_VERB_H

#include "cli/cli.h"
#include "core/kind.h"

struct verb {
    const char *name;    /* NULL ends the table */
    unsigned needs;      /* of enum kind_verbs; 0: an action */
    const char *summary; /* printf format with the kind's word */
    const char *words;   /* positional: "NAME", "NAME..." or NULL */
    bool (*run)(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                struct err *err);
    /* Verbs of one kind only: its name, its flags, how many words it takes. They need no verb of the kind. */
    const char *kind;
    const struct flag *flags;
    size_t flag_count, min_words, max_words;
    const char
        *takes; /* the kind whose action of this name gives it more flags, and is handed to run; NULL */
};

/* One verb of one kind, ready to be parsed, explained or completed. */
struct verb_use {
    const struct kind *kind;
    const struct verb *verb;
    const struct action *action; /* NULL: a generic verb */
    const char *usage;           /* "ingot user create NAME [flags]" */
    const char *summary;
    const struct flag *flags;
    size_t flag_count;
    bool takes_object; /* the first positional word names an existing object */
};

/* false when the kind has no such verb. */
bool verb_find(struct arena *a, const struct kind *k, struct str name, struct verb_use *ret);
/* The names of all verbs of a kind, NULL at the end. */
const char **verb_names(struct arena *a, const struct kind *k);
bool verb_run(struct cli *cli, const struct verb_use *use, const struct args *args, struct err *err);

/* The functions behind, in verb_read.c and verb_write.c. */
bool verb_list(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
               struct err *err);
bool verb_get(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
              struct err *err);
bool verb_create(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                 struct err *err);
bool verb_update(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                 struct err *err);
bool verb_delete(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                 struct err *err);
bool verb_action(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                 struct err *err);
/* Makes an object as the flags say. */
bool verb_make(struct cli *cli, const struct kind *k, const struct args *args, yyjson_val **ret,
               struct err *err);
/* The action on the object of that path, as the flags say: asks where it is dangerous, waits, shows. */
bool verb_act_on(struct cli *cli, const struct kind *k, const struct action *act, const struct args *args,
                 const char *path, struct err *err);
/* Whether the action is done by a task or a job, which is waited for. */
bool verb_makes_work(const struct action *act);
/* Shows one object in the chosen form; v may be NULL (nothing is shown). */
void verb_show(struct cli *cli, const struct kind *k, yyjson_val *v);
/* "/users/7": the object that words[0] names. */
bool verb_object_path(struct cli *cli, const struct kind *k, const struct args *args, const char *word,
                      const char **ret, struct err *err);

#endif
