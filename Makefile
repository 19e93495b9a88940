# make            release build with the web UI, build/release/ingot
# make run        installs what is missing, builds, starts on 127.0.0.1:8080 with ./data
# make install    installs it below PREFIX, /usr/local unless it is given; DESTDIR as usual
# make test       installs what is missing, builds all, runs every test
# make check      format, linters, layer order, sizes
# make bench      benchmarks against a peer; BENCH="platform get" runs some
# make build-MODE one of release, san (ASan+UBSan), tsan, fuzz, without the web UI's build
# make clean      removes build/ and web/dist (not .cache)
MODES := release san tsan fuzz
PREFIX ?= /usr/local
NINJA := ninja $(if $(JOBS),-j$(JOBS))

export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1

.PHONY: all run install test check bench web clean setup-build $(MODES:%=build-%)

all: setup-build web
	@$(MAKE) --no-print-directory build-release

setup-build:
	@scripts/setup.sh build
	@scripts/thirdparty.sh

$(MODES:%=build-%): build-%: setup-build
	@mkdir -p build
	@[ -e build/$*/build.ninja ] || cmake -S . -B build/$* -G Ninja --log-level=WARNING -DINGOT_MODE=$* \
		$(if $(filter fuzz,$*),-DCMAKE_C_COMPILER=clang)
	@$(NINJA) -C build/$*

web: setup-build
	@scripts/web.sh

run: all
	exec scripts/run.sh

install: all
	@scripts/install.sh $(PREFIX)

test:
	@scripts/setup.sh build test
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory build-san build-tsan build-fuzz
	scripts/test.sh all

check:
	@scripts/setup.sh build check
	@$(MAKE) --no-print-directory setup-build
	scripts/check.sh

bench:
	@scripts/setup.sh build bench
	@$(MAKE) --no-print-directory all
	scripts/bench.sh $(BENCH)

clean:
	rm -rf build web/dist
