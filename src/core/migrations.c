#include "core/schema.h"

/* Numbers 1, 2, 3 ... without gaps; never changed once released. "+ name" when it only adds (tables, columns
 * that may be empty): the program before it can then take over again. The last line ends the table. */
const struct db_migration migrations[] = {
    {1, "events of jobs in Chinese", "ALTER TABLE job_events ADD COLUMN reason_zh {text};\n"},
    {2, "weights of projects", "UPDATE projects SET weight = 1 WHERE weight IS NULL;\n"},
    {3, "builds of images", "CREATE TABLE image_builds (job BIGINT PRIMARY KEY, version {text} NOT NULL);\n"},
    {4, "what running imports changed",
     "CREATE TABLE import_changes (task BIGINT NOT NULL, sample BIGINT NOT NULL, revision BIGINT NOT NULL,"
     " digest {bytes} NOT NULL, size BIGINT NOT NULL, width BIGINT NOT NULL, height BIGINT NOT NULL,"
     " duration DOUBLE PRECISION NOT NULL, state BIGINT NOT NULL, former BIGINT NOT NULL,"
     " annotation {text} NOT NULL, sharpness DOUBLE PRECISION, phash BIGINT, PRIMARY KEY (task, sample));\n"
     "CREATE TABLE import_waits (task BIGINT NOT NULL, name {text} NOT NULL, annotation {text},"
     " PRIMARY KEY (task, name));\n"},
    {5, "+ classes and parts that imports name",
     "CREATE TABLE version_classes (version BIGINT NOT NULL, position BIGINT NOT NULL, name {text} NOT NULL,"
     " definition {text} NOT NULL, PRIMARY KEY (version, name));\n"
     "ALTER TABLE samples ADD COLUMN split BIGINT NOT NULL DEFAULT 0;\n"
     "ALTER TABLE import_changes ADD COLUMN split BIGINT NOT NULL DEFAULT 0;\n"},
    {6, "+ parts of annotations that wait for their samples",
     "ALTER TABLE sample_waiting ADD COLUMN split BIGINT NOT NULL DEFAULT 0;\n"
     "ALTER TABLE import_waits ADD COLUMN split BIGINT NOT NULL DEFAULT 0;\n"},
    /* A quota of 0 meant no limit, and means none at all since. To programs from before both are no limit. */
    {7, "+ quotas of 0",
     "UPDATE projects SET quota = replace(replace(replace(replace(quota, ':0,', ':null,'), ':0}', ':null}'),"
     " ':0.0,', ':null,'), ':0.0}', ':null}');\n"},
    {8, "+ jobs that reach the platform", "UPDATE projects SET job_access = 1 WHERE job_access IS NULL;\n"},
    /* Of samples from before: those that were judged, and those that were annotated again after they came. */
    {9, "+ what people labelled",
     "ALTER TABLE samples ADD COLUMN by_person BIGINT NOT NULL DEFAULT 0;\n"
     "ALTER TABLE import_changes ADD COLUMN by_person BIGINT NOT NULL DEFAULT 0;\n"
     "UPDATE samples SET by_person = 1 WHERE state IN (3, 4, 5) OR (state = 1 AND revision > 1)"
     " OR (state = 6 AND (former IN (3, 4, 5) OR (former = 1 AND revision > 2)));\n"},
    {10, "+ tasks of an object", "CREATE INDEX tasks_subject ON tasks (subject_kind, subject);\n"},
    /* Of addresses from before only the audit says who gave them. */
    {11, "+ addresses that users gave themselves",
     "UPDATE users SET email_own = 1 WHERE EXISTS (SELECT 1 FROM audit a WHERE a.kind = 'user'"
     " AND a.object = users.id AND a.\"user\" = users.id AND a.verb = 'update'"
     " AND a.detail LIKE '%\"email\"%') AND users.administrator = 0;\n"},
    {12, "+ points over time",
     "CREATE TABLE series (id {id}, owner_kind {text} NOT NULL, owner BIGINT NOT NULL, part {text} NOT NULL,"
     " name {text} NOT NULL, keep BIGINT NOT NULL, points BIGINT NOT NULL, bytes BIGINT NOT NULL,"
     " rolled BIGINT NOT NULL, due BIGINT NOT NULL);\n"
     "CREATE UNIQUE INDEX series_key ON series (owner_kind, owner, part, name);\n"
     "CREATE INDEX series_due ON series (due);\n"
     "CREATE TABLE series_chunks (id {id}, series BIGINT NOT NULL, level BIGINT NOT NULL,"
     " first BIGINT NOT NULL, last BIGINT NOT NULL, points BIGINT NOT NULL, data {bytes} NOT NULL);\n"
     "CREATE INDEX series_chunks_series ON series_chunks (series, level, id);\n"},
    {13, "+ jobs of an owner", "CREATE INDEX jobs_owner ON jobs (owner_kind, owner, id);\n"},
    /* Where a sample's newest packed operations are is a column of it: core/data/operation_pack.h. */
    {14, "+ operations on samples, annotation layers",
     "CREATE TABLE sample_operations (sample BIGINT NOT NULL, layer BIGINT NOT NULL, revision BIGINT NOT "
     "NULL,"
     " at BIGINT NOT NULL, by_user BIGINT NOT NULL, state BIGINT NOT NULL, client {text} NOT NULL,"
     " number BIGINT NOT NULL, target {text} NOT NULL, body {text} NOT NULL,"
     " PRIMARY KEY (sample, layer, revision));\n"
     "CREATE UNIQUE INDEX sample_operations_id ON sample_operations (sample, layer, client, number);\n"
     "CREATE TABLE operation_packs (id {id}, version BIGINT NOT NULL, operations BIGINT NOT NULL,"
     " data {bytes} NOT NULL);\n"
     "CREATE INDEX operation_packs_version ON operation_packs (version);\n"
     "ALTER TABLE samples ADD COLUMN pack BIGINT NOT NULL DEFAULT 0;\n"
     "CREATE TABLE layer_samples (layer BIGINT NOT NULL, sample BIGINT NOT NULL, revision BIGINT NOT NULL,"
     " annotation {text} NOT NULL, updated_at BIGINT NOT NULL, updated_by BIGINT NOT NULL,"
     " pack BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (layer, sample));\n"
     "CREATE INDEX layer_samples_sample ON layer_samples (sample);\n"
     "CREATE TABLE layer_purges (layer BIGINT PRIMARY KEY);\n"},
    /* core/made_from.h */
    {15, "+ what objects were made from",
     "CREATE TABLE made_from (kind {text} NOT NULL, id BIGINT NOT NULL, relation {text} NOT NULL,"
     " from_kind {text} NOT NULL, from_id BIGINT NOT NULL,"
     " PRIMARY KEY (kind, id, relation, from_kind, from_id));\n"
     "CREATE INDEX made_from_source ON made_from (from_kind, from_id, relation, kind, id);\n"
     "CREATE TABLE made_from_marks (kind {text} PRIMARY KEY, last BIGINT NOT NULL);\n"
     "CREATE INDEX image_versions_digest ON image_versions (digest);\n"
     "CREATE INDEX layers_made_by ON layers (made_by_kind, made_by);\n"},
    /* core/training/summary.h */
    {16, "+ what runs are compared by",
     "CREATE TABLE run_metrics (run BIGINT NOT NULL, metric {text} NOT NULL, in_project BIGINT NOT NULL,"
     " in_training BIGINT NOT NULL, last DOUBLE PRECISION NOT NULL, last_step DOUBLE PRECISION NOT NULL,"
     " best DOUBLE PRECISION NOT NULL, best_step DOUBLE PRECISION NOT NULL, points BIGINT NOT NULL,"
     " PRIMARY KEY (run, metric));\n"
     "CREATE INDEX run_metrics_project ON run_metrics (in_project, metric, best, run);\n"
     "CREATE INDEX run_metrics_training ON run_metrics (in_training, metric, best, run);\n"
     "CREATE TABLE run_parameters (run BIGINT NOT NULL, parameter {text} NOT NULL, in_project BIGINT NOT "
     "NULL,"
     " in_training BIGINT NOT NULL, as_number DOUBLE PRECISION, as_text {text} NOT NULL,"
     " PRIMARY KEY (run, parameter));\n"
     "CREATE INDEX run_parameters_project ON run_parameters (in_project, parameter, as_number, run);\n"
     "CREATE INDEX run_parameters_training ON run_parameters (in_training, parameter, as_number, run);\n"
     "CREATE TABLE run_notes (run BIGINT NOT NULL, note {text} NOT NULL, times BIGINT NOT NULL,"
     " PRIMARY KEY (run, note));\n"},
    {17, "+ how long runs took",
     "UPDATE training_instances SET duration = (ended_at - started_at) / 1000000.0"
     " WHERE duration IS NULL AND started_at IS NOT NULL AND ended_at IS NOT NULL;\n"},
    /* core/search.h */
    {18, "+ words and parts of words",
     "CREATE TABLE search_places (id {id}, source {text} NOT NULL, scope BIGINT NOT NULL, mark BIGINT NOT "
     "NULL,"
     " seen BIGINT NOT NULL, waits BIGINT NOT NULL);\n"
     "CREATE UNIQUE INDEX search_places_key ON search_places (source, scope);\n"
     "CREATE TABLE search_grams (place BIGINT NOT NULL, gram BIGINT NOT NULL, block BIGINT NOT NULL,"
     " documents {bytes} NOT NULL, PRIMARY KEY (place, gram, block));\n"
     "CREATE TABLE search_changed (id {id}, source {text} NOT NULL, scope BIGINT NOT NULL,"
     " document BIGINT NOT NULL);\n"
     "CREATE INDEX search_changed_key ON search_changed (source, scope, document);\n"},
    /* core/growth.h. What is known of the time before: what is still there. */
    {19, "+ what came by day",
     "CREATE TABLE growth (project BIGINT NOT NULL, what {text} NOT NULL, day BIGINT NOT NULL,"
     " n BIGINT NOT NULL, PRIMARY KEY (project, what, day));\n"
     "INSERT INTO growth (project, what, day, n) SELECT project, 'samples', created_at / 86400000000,"
     " CAST(SUM(samples) AS BIGINT) FROM dataset_versions WHERE \"from\" IS NULL AND samples > 0 GROUP BY 1, "
     "3;\n"
     "INSERT INTO growth (project, what, day, n) SELECT t.project, 'labels', h.hour / 24,"
     " CAST(SUM(h.submitted) AS BIGINT) FROM label_hours h JOIN label_tasks t ON t.id = h.task"
     " WHERE h.stage = 0 AND h.submitted > 0 GROUP BY 1, 3;\n"
     "INSERT INTO growth (project, what, day, n) SELECT project, 'models', created_at / 86400000000,"
     " COUNT(*) FROM model_versions WHERE files > 0 GROUP BY 1, 3;\n"
     "INSERT INTO growth (project, what, day, n) SELECT project, 'services', created_at / 86400000000,"
     " COUNT(*) FROM service_versions GROUP BY 1, 3;\n"},
    {0},
};
const size_t migration_count = countof(migrations) - 1;
