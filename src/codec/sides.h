/* Left and right in skeletons. A mirrored picture shows a left hand where the right one was, so the points of
 * a skeleton that are a pair by their names (left_eye and right_eye, LeftEye and RightEye, l_eye and r_eye,
 * eye.L and eye.R, 左眼 and 右眼) swap places. */
#ifndef INGOT_CODEC_SIDES_H
#define INGOT_CODEC_SIDES_H

#include "codec/codec.h"

struct sides;
/* Finds the pairs among the points of each label. Everything lives in the arena but for the map inside. */
struct sides *sides_new(struct arena *a, const struct codec_label *labels, size_t n);
void sides_free(struct sides *s);
/* Whether any label has a pair. */
bool sides_any(const struct sides *s);

/* The annotation with the points of all pairs swapped. */
bool sides_swap(const struct sides *s, struct arena *a, enum annotation_type type, struct str json,
                struct str *ret_json, struct err *err);

#endif
