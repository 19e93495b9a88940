/* Videos among the uploaded files become their frames (D5). */
#ifndef INGOT_CORE_DATA_FRAMES_H
#define INGOT_CORE_DATA_FRAMES_H

#include "core/data/unpack.h"
#include "media/media.h"

bool frames_is_video(struct str path);
/* Replaces every video in the list by pictures `<video's name>/000123.jpg`. A video that cannot be read is
 * reported. */
bool frames_expand(struct task *t, struct unpacked *files, const struct media_frames *how, struct err *err);

#endif
