# ingot-shim, the supervisor of a local container (src/exec/shim): static and without sanitizers, for it is also process
# 1 inside containers that have no libraries of ours. Its bytes are a library that src/exec/local starts it from.
file(GLOB shim CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/exec/shim/*.c)
if(shim AND TARGET ingot_exec)
    set(local ${CMAKE_SOURCE_DIR}/src/exec/local)
    add_executable(ingot-shim ${exclude} ${shim} ${local}/cgroup.c ${local}/netlink.c)
    target_link_libraries(ingot-shim PRIVATE ingot_flags)
    target_compile_options(ingot-shim PRIVATE -O2 -fno-sanitize=all)
    target_link_options(ingot-shim PRIVATE -static -fno-sanitize=all)
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
