/* Plane geometry of shapes: boxes, rings, affine maps. */
#ifndef INGOT_CODEC_GEOMETRY_H
#define INGOT_CODEC_GEOMETRY_H

#include "codec/model.h"

/* How far outside the edge still counts as inside: two coordinates rounded to two decimals. */
#define GEOMETRY_SLACK 0.02

void geometry_map(const double m[6], double x, double y, double *ret_x, double *ret_y);
bool geometry_invert(const double m[6], double ret[6]); /* false: no inverse, or no sane numbers */
double geometry_tidy(double v); /* to a millionth of a pixel: without the dust of arithmetic */

/* The four corners of a box turned about its middle, clockwise from the top left. */
void geometry_corners(const struct shape *box, double ret[8]);
/* The upright box (x, y, w, h) round n points. */
void geometry_bounds(const double *xy, size_t n, double ret[4]);
bool geometry_ring_inside(const struct ring *r, double w, double h);
/* The part of the ring inside 0..w x 0..h (in the arena); count 0 when nothing is left. */
struct ring geometry_clip_ring(struct arena *a, const struct ring *r, double w, double h);
double geometry_ring_area(const struct ring *r); /* never negative */

/* Box and area of any shape: what the file gave, else worked out from the geometry. */
void geometry_box_of(const struct shape *s, double ret[4]);
double geometry_area_of(const struct shape *s);

#endif
