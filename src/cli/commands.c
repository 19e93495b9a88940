/* Every command that is no kind's. */
#include "api/describe/openapi.h"
#include "cli/account.h"
#include "cli/admin.h"
#include "cli/backup.h"
#include "cli/cli.h"
#include "cli/complete.h"
#include "cli/controllers.h"
#include "cli/env.h"
#include "cli/evaluate.h"
#include "cli/fetch.h"
#include "cli/find.h"
#include "cli/help.h"
#include "cli/infer.h"
#include "cli/label.h"
#include "cli/lineage.h"
#include "cli/predict.h"
#include "cli/running.h"
#include "cli/serve.h"
#include "cli/service.h"
#include "record/record_cli.h"

static bool version_run(unused_ok struct cli *cli, const struct args *args, struct err *err)
{
    if (!args_count(args, 0, 0, "ingot version", err))
        return false;
    puts("ingot " INGOT_VERSION);
    return true;
}

static bool openapi_run(unused_ok struct cli *cli, const struct args *args, struct err *err)
{
    if (!args_count(args, 0, 0, "ingot openapi", err))
        return false;
    auto_buf struct buf text = {0};
    openapi_write(&text);
    printf(STR_FMT "\n", STR_ARG(buf_view(&text)));
    return true;
}

/* It calls itself what the user typed. */
static int record_program(int argc, char **argv)
{
    argv[0] = "ingot record";
    return record_cli(argc, argv);
}

static const char *const train_words[] = {"run", "auto", "resume", NULL};
static const char *const controller_words[] = {"run", NULL};
static const char *const admin_words[] = {"password", NULL};
static const char *const env_words[] = {"ssh", "open", NULL};
static const char *const label_words[] = {"next", "submit", "progress", NULL};
static const char *const record_words[] = {"info", "cat", "verify", "convert", NULL};
static const char *const shells[] = {"bash", "zsh", "fish", NULL};

const struct command commands[] = {
    {.name = "serve",
     .usage = "[--data DIR] [--listen HOST:PORT] ...",
     .summary = "run the platform; `ingot serve --help` lists its options",
     .examples = "ingot serve --data ./data --listen 127.0.0.1:8080",
     .program = serve_main},
    {.name = "login",
     .usage = "URL",
     .summary = "sign in to a server and remember it",
     .examples = "ingot login http://127.0.0.1:8080 --name admin\n"
                 "echo $TOKEN | ingot login https://ingot.example --token-stdin",
     .flags = account_login_flags,
     .flag_count = 6,
     .run = account_login},
    {.name = "logout", .summary = "end the sign-in and forget it", .run = account_logout},
    {.name = "whoami", .summary = "who is signed in, where, with which projects", .run = account_whoami},
    {.name = "use",
     .usage = "PROJECT",
     .summary = "choose the project of commands without --project",
     .examples = "ingot use vision\ningot use --none",
     .flags = account_use_flags,
     .flag_count = 1,
     .names = {"project"},
     .run = account_use},
    {.name = "train",
     .usage = "run [flags] [-- COMMAND...] | auto DATASET[:VERSION] | resume TRAINING[/RUN]",
     .summary = "train a model: start, follow the log, end as the command did",
     .examples = "ingot train auto fruit:v3 --minutes 10\n"
                 "ingot train run --data digits --algo classifier:v2 --spec small --save-to digits -- "
                 "python3 train.py\n"
                 "ingot train run --name nightly --spec small --nodes 2 -- 'torchrun train.py'\n"
                 "ingot train run --data digits --algo one-click --spec small --set lr=0.01 --set epochs=5\n"
                 "ingot train resume nightly",
     .words = train_words,
     .names = {"training"},
     .flags = running_train_flags,
     .flag_count = RUNNING_TRAIN_FLAGS,
     .run = running_train},
    {.name = "env",
     .usage = "ssh NAME [-- COMMAND...] | open NAME",
     .summary = "into a running environment: by ssh, or its pages in the browser",
     .examples = "ingot env ssh lab\ningot env ssh lab -- nvidia-smi\ningot env open lab --tool vscode",
     .words = env_words,
     .names = {"environment"},
     .flags = env_flags,
     .flag_count = ENV_FLAGS,
     .run = env_run},
    {.name = "deploy",
     .usage = "MODEL[:VERSION] [--name NAME] | --command TEXT --name NAME",
     .summary = "serve a model, or a command, at a stable address; wait until it answers",
     .examples = "ingot deploy fruit:v3 --name fruit\n"
                 "ingot deploy fruit:v4 --name fruit --canary\n"
                 "ingot deploy --name page --command 'python3 -m http.server $PORT'",
     .names = {"model_set"},
     .flags = service_deploy_flags,
     .flag_count = SERVICE_DEPLOY_FLAGS,
     .run = service_deploy_run},
    {.name = "predict",
     .usage = "SERVICE | MODEL:VERSION FILE...",
     .summary =
         "send pictures, texts or sounds to a service or a model version and print what it sees in them",
     .examples = "ingot predict fruit a.jpg b.jpg\ningot predict fruit a.jpg -o json\n"
                 "ingot predict fruit:v3 a.jpg\n"
                 "ingot predict fruit:v3 a.jpg --manifest ingot-model.json",
     .names = {"service", "model_set"},
     .flags = predict_flags,
     .flag_count = PREDICT_FLAGS,
     .run = predict_run},
    {.name = "find",
     .usage = "WORD...",
     .summary = "objects of all kinds in the project that the words are found in",
     .examples = "ingot find traffic\ningot find night det --limit 5",
     .flags = find_flags,
     .flag_count = FIND_FLAGS,
     .run = find_run},
    {.name = "lineage",
     .usage = "KIND NAME[:VERSION] | sample ID | request ID",
     .summary = "what something was made from, and what was made of it",
     .examples = "ingot lineage model fruit:v3\ningot lineage dataset streets:v1 --direction down\n"
                 "ingot lineage request 0f6c1e5d2a9b4c7e0000000000000007",
     .flags = lineage_flags,
     .flag_count = LINEAGE_FLAGS,
     .run = lineage_run},
    {.name = "request",
     .usage = "ID",
     .summary = "which version and replica answered a request at the gateway (its X-Request-Id)",
     .examples = "ingot request 0f6c1e5d2a9b4c7e0000000000000007",
     .run = service_request_run},
    {.name = "label",
     .usage = "next TASK | submit TASK ASSIGNMENT | progress TASK",
     .summary = "work of a labelling task: take samples, submit them, see how it goes on",
     .examples = "ingot label next cats\ningot label submit cats 17 --nothing\n"
                 "ingot label progress cats --csv --from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z",
     .words = label_words,
     .names = {"label_task"},
     .flags = label_flags,
     .flag_count = LABEL_FLAGS,
     .run = label_run},
    {.name = "logs",
     .usage = "JOB | TRAINING[/RUN] | --service NAME | --platform",
     .summary =
         "what a job, a run of a training or all replicas of a service printed; the platform's own log",
     .examples = "ingot logs -f nightly\ningot logs 17 --rank 1\ningot logs -f --service fruit\n"
                 "ingot logs --platform -f --level warn",
     .names = {"job", "training"},
     .flags = running_logs_flags,
     .flag_count = RUNNING_LOGS_FLAGS,
     .run = running_logs},
    {.name = "exec",
     .usage = "JOB | TRAINING[/RUN] [-- COMMAND...]",
     .summary = "run a command, or a shell, in a container that runs",
     .examples = "ingot exec -it nightly -- bash\ningot exec 17 -- nvidia-smi",
     .names = {"job", "training"},
     .flags = running_exec_flags,
     .flag_count = RUNNING_EXEC_FLAGS,
     .run = running_exec},
    {.name = "backup",
     .usage = "FILE|DIR/",
     .summary = "copy the whole platform, while it runs, into a file or a folder that has each blob once",
     .examples = "ingot backup ingot-monday.tar.zst\n"
                 "ingot backup /srv/backups/ --keep 30",
     .flags = backup_flags,
     .flag_count = 2,
     .run = backup_save},
    {.name = "restore",
     .usage = "FILE|DIR/",
     .summary = "replace the whole platform by a backup, or make a data folder of one",
     .examples = "ingot restore ingot-monday.tar.zst\n"
                 "ingot restore /srv/backups/\n"
                 "ingot restore ingot-monday.tar.zst --data /srv/ingot",
     .flags = backup_restore_flags,
     .flag_count = 3,
     .run = backup_load},
    {.name = "fetch",
     .usage = "[NAME... [--archive FILE] | --from FILE | --update]",
     .summary = "bring what is optional: built-in models, tools, runtimes; without a name: list them",
     .examples = "ingot fetch\n"
                 "ingot fetch coco-detector ocr-zh-en\n"
                 "ingot fetch jupyter tensorboard\n"
                 "ingot fetch ocr-zh-en --archive ocr.tar\n"
                 "ingot fetch --from ocr.tar",
     .flags = fetch_flags,
     .flag_count = FETCH_FLAGS,
     .offers = fetch_names,
     .run = fetch_run},
    {.name = "admin",
     .usage = "password [NAME]",
     .summary =
         "on the platform's machine, with its data folder: a new password, whether the server runs or not",
     .examples = "ingot admin password\n"
                 "ingot admin password anna --data /srv/ingot\n"
                 "echo $PASSWORD | ingot admin password --password-stdin",
     .flags = admin_flags,
     .flag_count = ADMIN_FLAGS,
     .words = admin_words,
     .names = {"user"},
     .run = admin_run},
    {.name = "controllers",
     .usage = "[run NAME]",
     .summary = "what the platform does by itself: last runs and failures (administrators)",
     .examples = "ingot controllers\n"
                 "ingot controllers run collect-blobs",
     .words = controller_words,
     .run = controllers_run},
    {.name = "infer",
     .usage = "FILE.onnx|FOLDER... [--listen HOST:PORT] ...",
     .summary = "serve models over HTTP without the platform; `ingot infer --help` lists its options",
     .examples = "ingot infer model.onnx\n"
                 "ingot infer --model fruit=./fruit --batch 8 --listen 0.0.0.0:8000",
     .program = infer_main},
    {.name = "evaluate",
     .usage = "MODEL:VERSION DATASET:VERSION | TRUTH.jsonl FOUND.jsonl",
     .summary = "how good a model is on labelled data, or the annotations of one file by those of another",
     .examples = "ingot evaluate fruit:v3 test:v1\n"
                 "ingot evaluate fruit:v3 fruit-data:v1 --part test -o json\n"
                 "ingot evaluate truth/ingot.jsonl found/ingot.jsonl\n"
                 "ingot evaluate truth.jsonl found.jsonl --type detection -o json",
     .flags = evaluate_flags,
     .flag_count = EVALUATE_FLAGS,
     .run = evaluate_run},
    {.name = "record",
     .usage = "info|cat|verify|convert ...",
     .summary = "look at and convert dataset record files",
     .words = record_words,
     .program = record_program},
    {.name = "completion",
     .usage = "bash|zsh|fish",
     .summary = "print the shell's completion script",
     .examples = "source <(ingot completion bash)\n"
                 "ingot completion fish > ~/.config/fish/completions/ingot.fish",
     .words = shells,
     .run = complete_script},
    {.name = "openapi", .summary = "print the description of the API", .run = openapi_run},
    {.name = "version", .summary = "the version of this program", .run = version_run},
    {.name = "help", .usage = "[COMMAND | KIND [VERB]]", .summary = "explain a command", .run = help_run},
    {.name = "__complete",
     .summary = "candidates for the shell",
     .hidden = true,
     .program = complete_program},
    {0},
};
