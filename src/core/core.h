/* The running platform: what every rule may reach. Made once by main (cli/serve.c), passed explicitly. */
#ifndef INGOT_CORE_CORE_H
#define INGOT_CORE_CORE_H

#include "base/pool.h"
#include "core/kind.h"
#include "db/db.h"

struct accounts;      /* caches of tokens, sessions and grants: core/account/accounts.h */
struct store;         /* blobs: store/store.h */
struct media;         /* pictures, sound, video: media/media.h */
struct tasks;         /* long work: core/task/task.h */
struct series_engine; /* points over time: core/series/series.h */
struct jobs;
struct images;
struct tools;        /* ways to tools in containers: core/environment/tools.h */
struct environments; /* core/environment/environment.h */
struct services;     /* core/serve/serve.h */
struct controllers;  /* what the platform does by itself: core/controller.h */
struct folder_uses;  /* core/folder_use.h */
struct serve_gate;   /* what requests of services are counted on: core/serve/gate.h */
struct request_log;  /* of services: core/serve/request_log.h */
struct documents;    /* annotations in work: core/data/document.h */
struct rooms;        /* people at work on samples: core/data/room.h */
struct changes;      /* feed of committed changes: core/changes.h */

/* Texts of the configuration. */
struct core_list {
    char **items;
    size_t n;
};

/* How many hours tasks of a type may take, where that is configured. */
struct core_task_hours {
    struct {
        char *name;
        double hours;
    } * items;
    size_t n;
};

/* How long points over time are kept: core/series/series.h. */
struct core_series {
    double second_hours, minute_days;
    int64_t write_s; /* what was measured is written so often */
};

struct core {
    struct db *db;
    struct pool *pool; /* where requests run that touch the database */
    struct accounts *accounts;
    struct changes *changes;
    struct store *store;
    struct media *media;
    struct tasks *tasks;
    struct series_engine *series;
    struct controllers *controllers;
    struct folder_uses *folder_uses;
    struct images *images; /* unpacked image layers: core/image/image.h */
    struct jobs *jobs;     /* what runs in containers: core/job/job.h */
    struct tools *tools;
    struct environments *environments;
    struct serve_gate *gate;
    struct request_log *request_log;
    struct services *services;
    struct documents *documents; /* the writing thread's */
    struct rooms *rooms;
    metric_number operations[4]; /* on samples, by enum operate_state */
    bool tls;                    /* the listeners speak TLS */
    _Atomic(const char *)
        own_url;             /* where programs that the platform itself runs reach its API; NULL: not yet */
    const char *gateway_url; /* how clients reach services, or NULL: gateway_port of the platform's host */
    uint16_t gateway_port;   /* of its listener */
    const char *data;        /* the data folder, absolute */
    int data_fd;
    const char *public_url;        /* "https://ingot.example", or NULL: taken from the request */
    struct core_list import_roots; /* folders of the machine that imports may read */
    struct core_list import_hosts; /* machines that imports may reach: core/data/sources.h */
    struct core_list registries;   /* outside registries that images may be pulled from */
    const char *import_ca; /* file with the authorities of TLS to those machines; NULL: the system's */
    struct core_task_hours task_hours;
    struct core_series series_limits;
    const char *inventory; /* JSON file that declares devices of this machine, or NULL */
    struct {
        metric_number given, made; /* again from memory; anew, where they could have been */
    } answers;
    bool egress; /* containers may open connections to the outside */
    int lock_fd; /* held on data/lock while the platform runs */
};

struct core_options {
    const char *data;
    const char *db_url;  /* NULL: sqlite in data */
    unsigned db_wait_s;  /* for another server to let go of the database */
    void (*taken)(void); /* as db_options has it */
    const char *public_url;
    const char *config; /* JSON file with sign-in providers etc.; NULL: data/config.json if there */
    const char *store;  /* "s3://bucket/prefix": where blobs are; NULL: in data */
    const char *s3_endpoint, *s3_region, *s3_ca; /* of it; NULL: AWS, us-east-1, the system's authorities */
    int64_t cache_bytes;                         /* for local copies of its blobs; 0: the default */
    const char *tools_dir, *tools_url;           /* as tools_options has them */
    const char *gateway_url;                     /* as core has it */
    bool tls;                                    /* the listeners speak TLS */
    const char *ssh_listen;                      /* address of the environments' ssh ports */
    uint16_t ssh_port_first, ssh_port_last;      /* 0: any free port */
    /* For a program beside the server, while none runs: users and what is written about them, nothing else;
     * no first administrator is made. */
    bool accounts_only;
};
/* Opens the data folder (flock: only one server on it), the database, makes and updates the schema, the first
 * administrator (password of $INGOT_ADMIN_PASSWORD, or generated and put into *ret_password), starts the
 * controllers. */
struct core *core_open(const struct core_options *o, struct arena *a, const char **ret_password,
                       struct err *err);
void core_close(struct core *core);

#endif
