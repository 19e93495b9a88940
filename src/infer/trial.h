/* A model that is being tried (--try): it is loaded at its first request and not before, so that what is
 * wrong with it is told to whoever asks, and a request may bring a manifest in place of the folder's, so that
 * one can be tried before it is kept. What was tried last stays loaded; the next one takes its place. */
#ifndef INGOT_INFER_TRIAL_H
#define INGOT_INFER_TRIAL_H

#include "infer/models.h"

struct trial;

/* models: for giving back what trial_find gave; outlives the trial, as the texts do. */
struct trial *trial_new(struct models *models, const char *name, const char *path, const char *version,
                        const struct served_options *o);
void trial_free(struct trial *t);

/* The model by this manifest (STR_NULL: the folder's own), with a reference: models_drop. Waits while it is
 * loaded. ERR_NOT_FOUND when the model has another name; else as served_load. */
struct served *trial_find(struct trial *t, struct str name, struct str manifest, struct err *err);

#endif
