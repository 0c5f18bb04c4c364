// The style sheet of reports: web/src/colors.css and report.css, which the build makes part of the
// library (cmake/web.cmake).
#include "view/report_data.h"

extern const unsigned char mf_report_css[]; // terminated by 0

void mf_report_style(mf_Text *text) {
    mf_text_put(text, (const char *)mf_report_css);
}
