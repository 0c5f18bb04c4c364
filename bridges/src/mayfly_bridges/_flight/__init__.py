"""What the bridges to autopilots share: frames, sensors, motors and surfaces."""
