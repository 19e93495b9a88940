/* What `ingot login` and `ingot use` remember: $INGOT_CONFIG, or $XDG_CONFIG_HOME/ingot/config.json, or
 * ~/.config/ingot/config.json, readable by its owner only. $INGOT_URL, $INGOT_TOKEN and $INGOT_PROJECT win
 * over it; the file's token is never sent to another address than the file's. */
#ifndef INGOT_CLI_CONFIG_H
#define INGOT_CLI_CONFIG_H

#include "base/arena.h"
#include "base/err.h"

struct config {
    const char *url; /* without a slash at the end; NULL: not known */
    const char *token;
    int64_t token_id;    /* of the token that login made; 0: it was given */
    const char *project; /* name or id, NULL: none */
    const char *ca_file;
    bool insecure;
};

const char *config_path(struct arena *a, struct err *err);
/* The file only; empty when there is none. */
bool config_load(struct arena *a, struct config *ret, struct err *err);
bool config_save(struct arena *a, const struct config *c, struct err *err);
/* File and environment, and url (the flag --url; NULL: none). */
bool config_effective(struct arena *a, const char *url, struct config *ret, struct err *err);
/* Adds nothing but checks http:// or https:// and cuts slashes at the end. */
bool config_url(struct arena *a, const char *text, const char **ret, struct err *err);

#endif
