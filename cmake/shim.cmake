# ingot-shim, the supervisor of a local container (src/exec/shim): static and without sanitizers, for it is also process
# 1 inside containers that have no libraries of ours. Its bytes are a library that src/exec/local starts it from. It is
# started twice per container, so it uses musl where there is one: a tenth of the size, and no look at the processor at
# each start, which virtual machines make slow.
file(GLOB shim CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/exec/shim/*.c)
if(shim AND TARGET ingot_exec)
    set(local ${CMAKE_SOURCE_DIR}/src/exec/local)
    add_executable(ingot-shim ${exclude} ${shim} ${local}/cgroup.c ${local}/netlink.c)
    target_link_libraries(ingot-shim PRIVATE ingot_flags)
    target_compile_options(ingot-shim PRIVATE -O2 -fno-sanitize=all)
    target_link_options(ingot-shim PRIVATE -static -fno-sanitize=all -Wl,--strip-all)
    string(REPLACE "-gnu" "-musl" musl "${CMAKE_LIBRARY_ARCHITECTURE}")
    if(musl AND EXISTS /usr/lib/${musl}/libc.a AND EXISTS /usr/include/${musl}/stdio.h)
        # The kernel's own headers come last, from where the other C library's are.
        target_compile_options(ingot-shim PRIVATE -nostdinc "SHELL:-isystem /usr/include/${musl}"
            "SHELL:-idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}" "SHELL:-idirafter /usr/include"
            -fno-pie -U_FORTIFY_SOURCE)
        target_link_options(ingot-shim PRIVATE -nostdlib /usr/lib/${musl}/crt1.o /usr/lib/${musl}/crti.o)
        target_link_libraries(ingot-shim PRIVATE /usr/lib/${musl}/libc.a gcc /usr/lib/${musl}/crtn.o)
        set_target_properties(ingot-shim PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    endif()
    set(program ${CMAKE_BINARY_DIR}/shim_program.S)
    file(CONFIGURE OUTPUT ${program} CONTENT [[
.section .note.GNU-stack, "", %progbits
.section .rodata
.global shim_program
.global shim_program_end
.balign 64
shim_program:
.incbin "@CMAKE_BINARY_DIR@/ingot-shim"
shim_program_end:
.byte 0
]] @ONLY)
    set_source_files_properties(${program} PROPERTIES OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/ingot-shim)
    add_library(ingot_shim_program STATIC ${exclude} ${program})
    add_dependencies(ingot_shim_program ingot-shim)
    target_link_libraries(ingot_exec PUBLIC ingot_shim_program)
endif()
