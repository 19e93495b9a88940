# The libraries each layer may use, and the two that scripts/thirdparty.sh fetched.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

foreach(module libuv libnghttp2 openssl sqlite3 libpq libmariadb libcurl libarchive vips libavformat libavcodec
        libavutil libswscale sndfile libargon2 zlib libzstd libcrypt cmocka)
    string(REGEX REPLACE "^lib" "" short ${module})
    pkg_check_modules(${short} QUIET IMPORTED_TARGET ${module})
endforeach()

function(third_party name version)
    set(dir ${CMAKE_SOURCE_DIR}/.cache/thirdparty/${name}-${version})
    if(NOT EXISTS ${dir}/complete)
        message(FATAL_ERROR "${name} ${version} is missing: run scripts/thirdparty.sh")
    endif()
    list(TRANSFORM ARGN PREPEND ${dir}/)
    add_library(${name} STATIC ${ARGN})
    target_include_directories(${name} SYSTEM PUBLIC ${dir})
    # Without it UBSan would end the program for what others' code does.
    target_compile_options(${name} PRIVATE -w -fno-sanitize=undefined)
endfunction()

third_party(llhttp 9.3.0 llhttp.c api.c http.c)
third_party(yyjson 0.10.0 yyjson.c)

set(uses_base yyjson uv openssl zlib zstd)
set(uses_record zstd zlib)
set(uses_db sqlite3 pq)
set(uses_net llhttp nghttp2 uv openssl curl)
set(uses_store curl archive)
set(uses_core argon2 curl archive crypt mariadb)
set(uses_api archive zlib)
set(uses_cli curl archive)
