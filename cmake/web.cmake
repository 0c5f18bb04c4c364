# The page of films and live runs (web/), made when it or its lock file changes. Without it the library has
# none: films cannot be written, which they say.
file(GLOB web_sources CONFIGURE_DEPENDS web/src/* web/*)
list(FILTER web_sources EXCLUDE REGEX "/(src|check)$")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web_sources})
set(web_page ${PROJECT_BINARY_DIR}/embedded/no_page.html)
set(web_licenses ${PROJECT_BINARY_DIR}/embedded/licenses.txt)
file(WRITE ${web_page} "")
set(web_licenses_text "")
if(MAYFLY_WEB)
  execute_process(COMMAND sh ${PROJECT_SOURCE_DIR}/web/make.sh ${MAYFLY_WEB_FOLDER}
    RESULT_VARIABLE web_result ERROR_VARIABLE web_reason ERROR_STRIP_TRAILING_WHITESPACE)
  if(web_result EQUAL 0)
    set(web_page ${MAYFLY_WEB_FOLDER}/page.html)
    file(READ ${MAYFLY_WEB_FOLDER}/licenses.txt web_licenses_text)
  else()
    message(NOTICE "${web_reason}: this build writes no films and has no `mayfly view`; run CMake again "
      "with a network, or say -DMAYFLY_WEB=OFF")
  endif()
endif()
mayfly_embed(${web_page} mf_film_page film_page)
# What the page is made of, under its own licenses: they go with the command, the package and the wheel.
file(CONFIGURE OUTPUT ${web_licenses} CONTENT "@web_licenses_text@" @ONLY)
mayfly_embed(${web_licenses} mf_web_licenses licenses)
mayfly_embed(${PROJECT_SOURCE_DIR}/LICENSE mf_license license)

# The style of reports: the same colors. Comments stay in the sources.
set(report_style "")
foreach(sheet colors report)
  file(READ ${PROJECT_SOURCE_DIR}/web/src/${sheet}.css text)
  string(REGEX REPLACE "/\\*[^*]*\\*/\n?" "" text "${text}")
  string(REGEX REPLACE "\n +" "" text "${text}")
  string(APPEND report_style "${text}")
endforeach()
if(report_style MATCHES "[<&]")
  message(FATAL_ERROR "web/src: colors.css and report.css must hold no '<' and no '&'")
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/embedded/report.css CONTENT "@report_style@" @ONLY)
mayfly_embed(${PROJECT_BINARY_DIR}/embedded/report.css mf_report_css report_css)
