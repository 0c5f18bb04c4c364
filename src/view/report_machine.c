// Machines in a report.
#include "view/report_data.h"

#include <mayfly/machine.h>

void mf_report_machine(mf_Text *text, const mf_ReportData *data) {
    mf_Machine machine;
    if (mf_machine_decode(data->genome, data->genome_bytes, &machine, NULL) != MF_OK)
        return;
    mf_text_format(text, "<p>%u bars, %u actuators, %u neurons, %u synapses.</p>\n",
                   machine.bar_count, machine.actuator_count, machine.neuron_count,
                   machine.synapse_count);
}
