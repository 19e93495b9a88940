/* Pictures, sound and video. Decoders meet hostile files, are large, and start slowly, so none of them is
 * linked into the server: a small pool of `ingot-media` processes does the work (its program is embedded in
 * ours and started from memory). A worker has a limit of memory and of time per request; when a file makes it
 * crash or hang, that request fails with ERR_INVALID and a new worker takes the next. Idle workers end by
 * themselves.
 *
 * Workers are shared in turns by project, and in a project by user; all background tasks together take turns
 * like one project.
 *
 * Input is a file descriptor positioned anywhere (workers use pread and mmap). All calls but media_begin
 * block. */
#ifndef INGOT_MEDIA_MEDIA_H
#define INGOT_MEDIA_MEDIA_H

#include "base/buf.h"
#include "base/fair.h"
#include "base/json.h"

struct media;

struct media_options {
    unsigned workers;    /* at once; 0: one per core */
    unsigned timeout_s;  /* per request without an answer; 0: 120 */
    uint64_t max_memory; /* per worker; 0: 2 GiB */
    uint64_t max_pixels; /* refuse larger pictures; 0: 512 million */
};
struct media *media_new(const struct media_options *o);
void media_free(struct media *m); /* ends the workers */

struct media_info {
    char kind[8];    /* "image", "audio", "video" */
    char format[16]; /* "jpeg", "png", "webp", "tiff", "bmp", "gif", "wav", "mp3", "flac", "ogg", "mp4" ... */
    int64_t width, height; /* as shown: EXIF orientation applied */
    int orientation;       /* 1..8 as stored */
    int bands;
    int64_t frames;     /* pages of a picture, frames of a video (estimate), 1 */
    double duration;    /* seconds; 0 for pictures */
    int rate, channels; /* audio */
};
/* ERR_INVALID with the reason when the bytes are no such file. */
bool media_probe(struct media *m, int fd, struct media_info *ret, struct err *err);

/* The same for plain JPEGs and PNGs from their header alone, without a worker; bytes may be cut off after it.
 * false: not one of these, or something unusual: ask media_probe. That the rest can be decoded is not
 * checked. */
bool media_quick(struct str bytes, struct media_info *ret);

/* Where a point of the picture as it is stored (w x h pixels) is shown: x' = m0 x + m1 y + m2, y' = m3 x + m4
 * y
 * + m5. False for an orientation that does not swap its sides. */
bool media_upright(int orientation, int64_t w, int64_t h, double ret[6]);

/* A JPEG of at most side x side pixels (never enlarged), upright, on white where it was transparent. */
bool media_thumbnail(struct media *m, int fd, unsigned side, struct buf *out, struct err *err);

/* A thumbnail, tile or wave form that no thread waits for: `done` tells on a thread of media when it is made,
 * or why not. Embedded in what it is about, zeroed; the first members are the caller's to set, the request by
 * one of the functions below. */
struct media_job {
    struct fair_item whose; /* project and user */
    int fd;                 /* owned by media from media_begin on */
    char request[96];
    /* Once, in any case; the job may be freed by it. */
    void (*done)(struct media_job *j, struct str bytes, const struct err *failed);
    /* May be NULL. When its turn comes: whether another made it meanwhile, then with its bytes. */
    bool (*early)(struct media_job *j, struct buf *ret);
    /* May be NULL. What was made on the way: the tile at column x of the same row. */
    void (*more)(struct media_job *j, unsigned x, struct str bytes);
    /* media's own: */
    enum { MEDIA_NEW, MEDIA_WAITS, MEDIA_RUNS, MEDIA_OVER } state;
    bool unwanted;
    int sock; /* of the worker that has it */
    struct media *media;
};
/* As media_thumbnail. */
void media_job_thumbnail(struct media_job *j, unsigned side);
/* A JPEG of the part at column x, row y of the upright picture, MEDIA_TILE pixels wide and high (less at the
 * right and lower edge); at level L the picture is made smaller by 2^L before. All of a row are made at once,
 * since most formats can only be read from the top. */
#define MEDIA_TILE      256
#define MEDIA_LEVEL_MAX 16
void media_job_tile(struct media_job *j, unsigned level, unsigned x, unsigned y);
/* The wave form of a sound: {"duration":SECONDS,"peaks":[[least,greatest],...]}, at most so many pairs, from
 * -1 to 1, over all channels. */
#define MEDIA_PEAKS_MAX 10000
void media_job_peaks(struct media_job *j, unsigned buckets);

/* ERR_UNAVAILABLE when too many of the user's, or of all, wait. */
void media_begin(struct media *m, struct media_job *j);
/* It is not wanted any more, whether it was begun or not: it is done soon, and a worker that has it is ended.
 * `done` may be called from inside; nothing happens when it was before. */
void media_cancel(struct media *m, struct media_job *j);

struct media_measures {
    double sharpness; /* variance of the Laplacian of the grey picture */
    uint64_t phash;   /* perceptual hash: similar pictures differ in few bits */
};
bool media_measure(struct media *m, int fd, struct media_measures *ret, struct err *err);

enum media_op_kind { MEDIA_CROP, MEDIA_ROTATE, MEDIA_MIRROR_H, MEDIA_MIRROR_V };
struct media_op {
    enum media_op_kind kind;
    int64_t x, y, w, h; /* CROP, clipped to the picture */
    double angle;       /* ROTATE: degrees clockwise; other than multiples of 90 enlarge the canvas */
};
struct media_result {
    int64_t width, height;
    char format[16];  /* of the bytes: that of the input where it can be written, else "png" */
    int64_t pages;    /* of the input; the first was transformed */
    double matrix[6]; /* where a point went: x' = m0 x + m1 y + m2, y' = m3 x + m4 y + m5 */
};
bool media_transform(struct media *m, int fd, const struct media_op *ops, size_t n, struct buf *out,
                     struct media_result *ret, struct err *err);

/* Frames of a video as JPEGs, upright, in order: every Nth (every > 0) or some per second of its time
 * (per_second > 0). each gets the frame's number and its time in seconds; false ends it with each's error.
 * Now and then it is called with the number -1 and no frame, while none is due. */
struct media_frames {
    int64_t every;
    double per_second;
    int64_t max; /* 0: all */
};
struct media_flaws {
    int64_t broken; /* packets that could not be decoded */
    bool cut;       /* the video ends before it should */
};
bool media_video(struct media *m, int fd, const struct media_frames *f,
                 bool (*each)(void *ctx, int64_t number, double time, struct str jpeg, struct err *err),
                 void *ctx, struct media_flaws *ret, struct err *err);

#endif
