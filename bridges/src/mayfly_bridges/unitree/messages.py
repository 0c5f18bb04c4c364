"""Message types of Unitree's second SDK: `unitree_go` (Go2 and its relatives), `unitree_hg` (G1),
`unitree_api` (services).

From the IDL files of the SDK, member by member; the test holds them against the classes that PyPI's
`unitree-sdk2py-dimos` ships.
"""

from __future__ import annotations

from mayfly_bridges._dds.definition import Library

_DEFINITIONS = {
    "unitree_go/TimeSpec": "int32 sec; uint32 nanosec",
    "unitree_go/BmsCmd": "uint8 off; uint8[3] reserve",
    "unitree_go/BmsState": """
        uint8 version_high; uint8 version_low; uint8 status; uint8 soc; int32 current; uint16 cycle;
        uint8[2] bq_ntc; uint8[2] mcu_ntc; uint16[15] cell_vol""",
    "unitree_go/MotorCmd": """
        uint8 mode; float32 q; float32 dq; float32 tau; float32 kp; float32 kd;
        uint32[3] reserve""",
    "unitree_go/MotorState": """
        uint8 mode; float32 q; float32 dq; float32 ddq; float32 tau_est; float32 q_raw;
        float32 dq_raw; float32 ddq_raw; uint8 temperature; uint32 lost; uint32[2] reserve""",
    "unitree_go/IMUState": """
        float32[4] quaternion; float32[3] gyroscope; float32[3] accelerometer; float32[3] rpy;
        uint8 temperature""",
    "unitree_go/LowCmd": """
        uint8[2] head; uint8 level_flag; uint8 frame_reserve; uint32[2] sn; uint32[2] version;
        uint16 bandwidth; unitree_go/MotorCmd[20] motor_cmd; unitree_go/BmsCmd bms_cmd;
        uint8[40] wireless_remote; uint8[12] led; uint8[2] fan; uint8 gpio; uint32 reserve;
        uint32 crc""",
    "unitree_go/LowState": """
        uint8[2] head; uint8 level_flag; uint8 frame_reserve; uint32[2] sn; uint32[2] version;
        uint16 bandwidth; unitree_go/IMUState imu_state; unitree_go/MotorState[20] motor_state;
        unitree_go/BmsState bms_state; int16[4] foot_force; int16[4] foot_force_est; uint32 tick;
        uint8[40] wireless_remote; uint8 bit_flag; float32 adc_reel; uint8 temperature_ntc1;
        uint8 temperature_ntc2; float32 power_v; float32 power_a; uint16[4] fan_frequency;
        uint32 reserve; uint32 crc""",
    "unitree_go/PathPoint": """
        float32 t_from_start; float32 x; float32 y; float32 yaw; float32 vx; float32 vy;
        float32 vyaw""",
    "unitree_go/SportModeState": """
        unitree_go/TimeSpec stamp; uint32 error_code; unitree_go/IMUState imu_state; uint8 mode;
        float32 progress; uint8 gait_type; float32 foot_raise_height; float32[3] position;
        float32 body_height; float32[3] velocity; float32 yaw_speed; float32[4] range_obstacle;
        int16[4] foot_force; float32[12] foot_position_body; float32[12] foot_speed_body;
        unitree_go/PathPoint[10] path_point""",
    "unitree_go/WirelessController": "float32 lx; float32 ly; float32 rx; float32 ry; uint16 keys",
    "unitree_hg/MotorCmd": """
        uint8 mode; float32 q; float32 dq; float32 tau; float32 kp; float32 kd; uint32 reserve""",
    "unitree_hg/MotorState": """
        uint8 mode; float32 q; float32 dq; float32 ddq; float32 tau_est; int16[2] temperature;
        float32 vol; uint32[2] sensor; uint32 motorstate; uint32[4] reserve""",
    "unitree_hg/IMUState": """
        float32[4] quaternion; float32[3] gyroscope; float32[3] accelerometer; float32[3] rpy;
        int16 temperature""",
    "unitree_hg/LowCmd": """
        uint8 mode_pr; uint8 mode_machine; unitree_hg/MotorCmd[35] motor_cmd; uint32[4] reserve;
        uint32 crc""",
    "unitree_hg/LowState": """
        uint32[2] version; uint8 mode_pr; uint8 mode_machine; uint32 tick;
        unitree_hg/IMUState imu_state; unitree_hg/MotorState[35] motor_state;
        uint8[40] wireless_remote; uint32[4] reserve; uint32 crc""",
    "unitree_api/RequestIdentity": "int64 id; int64 api_id",
    "unitree_api/RequestLease": "int64 id",
    "unitree_api/RequestPolicy": "int32 priority; bool noreply",
    "unitree_api/RequestHeader": """
        unitree_api/RequestIdentity identity; unitree_api/RequestLease lease;
        unitree_api/RequestPolicy policy""",
    "unitree_api/Request": "unitree_api/RequestHeader header; string parameter; uint8[] binary",
    "unitree_api/ResponseStatus": "int32 code",
    "unitree_api/ResponseHeader": """
        unitree_api/RequestIdentity identity; unitree_api/ResponseStatus status""",
    "unitree_api/Response": "unitree_api/ResponseHeader header; string data; uint8[] binary",
}

TYPES = Library(_DEFINITIONS)
