/* `ingot serve`: the platform in the foreground until SIGTERM or SIGINT, then it drains and ends with 0. */
#ifndef INGOT_CLI_SERVE_H
#define INGOT_CLI_SERVE_H

int serve_main(int argc, char **argv);

#endif
