# `ninja install`: the command with its manual pages and completion, the library with its headers
# under their true paths, the machines by name.
include(GNUInstallDirs)
install(TARGETS poise_command poise)
if(TARGET poise_pingpong)
  install(TARGETS poise_pingpong)
endif()
install(DIRECTORY poise runtimes DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*_testing.h" EXCLUDE)
install(DIRECTORY machines DESTINATION ${CMAKE_INSTALL_DATADIR}/poise)
install(FILES packaging/completion/poise.bash RENAME poise
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
install(FILES README.md LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
