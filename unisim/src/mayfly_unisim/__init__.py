"""Mayfly as the backend "mayfly" of UniSim.

    import mayfly_unisim
    import unisim

    mayfly_unisim.register()
    backend = unisim.create_backend("mayfly", scene, num_envs=1024, sim_dt=0.01)

UniLab registers it by itself, by an entry point.
"""

from mayfly_unisim.registration import register

__all__ = ["register"]
