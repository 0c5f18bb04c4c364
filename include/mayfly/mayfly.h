// Mayfly: a robot simulator that lives whole robot lifetimes in minutes. This header includes all
// others; start with mf_context_create in base.h.
#ifndef MAYFLY_MAYFLY_H
#define MAYFLY_MAYFLY_H

#include <mayfly/articulated.h>
#include <mayfly/base.h>
#include <mayfly/behavior.h>
#include <mayfly/builder.h>
#include <mayfly/camera.h>
#include <mayfly/car.h>
#include <mayfly/cloth.h>
#include <mayfly/collision.h>
#include <mayfly/compare.h>
#include <mayfly/control.h>
#include <mayfly/docks.h>
#include <mayfly/dynamics.h>
#include <mayfly/environment.h>
#include <mayfly/elastic.h>
#include <mayfly/external.h>
#include <mayfly/film.h>
#include <mayfly/fixed_wing.h>
#include <mayfly/gait.h>
#include <mayfly/instruments.h>
#include <mayfly/interaction.h>
#include <mayfly/docks.h>
#include <mayfly/joints.h>
#include <mayfly/kinematic.h>
#include <mayfly/kinematics.h>
#include <mayfly/links.h>
#include <mayfly/machine.h>
#include <mayfly/messages.h>
#include <mayfly/mind.h>
#include <mayfly/model.h>
#include <mayfly/model_fields.h>
#include <mayfly/motion.h>
#include <mayfly/plugin.h>
#include <mayfly/points.h>
#include <mayfly/prescribed.h>
#include <mayfly/print.h>
#include <mayfly/property.h>
#include <mayfly/quadrotor.h>
#include <mayfly/quasistatic.h>
#include <mayfly/query.h>
#include <mayfly/record.h>
#include <mayfly/report.h>
#include <mayfly/rigid.h>
#include <mayfly/scene.h>
#include <mayfly/search.h>
#include <mayfly/sensor.h>
#include <mayfly/terrain.h>
#include <mayfly/tracks.h>
#include <mayfly/truss.h>
#include <mayfly/vehicle.h>
#include <mayfly/vehicle_file.h>
#include <mayfly/world.h>

#endif
