/* Pictures that a run's code has kept with it (`ingot.image`): files <step>-<name>.png or .jpg below
 * /workspace/logs/ingot-images, which stay until the run is deleted. They are the container's: nothing about
 * them is believed, and no link is followed. */
#ifndef INGOT_CORE_TRAINING_PICTURES_H
#define INGOT_CORE_TRAINING_PICTURES_H

#include "core/engine.h"

#define PICTURES_MAX  200       /* files of a run that are looked at */
#define PICTURE_BYTES (1 << 20) /* of one; larger ones are left out */
#define PICTURES_PAGE (4 << 20) /* bytes of pictures in one answer, unless the first has more */

/* {"items":[{"file","name","step","bytes","type","data"}],"next"}: by name and step, those after the file of
 * that name; data is base64. A run without pictures has none. */
bool pictures_write(struct core *core, const struct object *instance, struct str after, int64_t limit,
                    struct arena *a, struct json_out *out, struct err *err);

#endif
