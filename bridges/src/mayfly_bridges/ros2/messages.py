"""The message types of ROS 2 that the bridge uses, in the words of their `.msg` files.

The test holds each against the definitions that PyPI's `rosbags` ships, hashes included.
"""

from __future__ import annotations

from mayfly_bridges._dds.definition import Library

_DEFINITIONS = {
    "builtin_interfaces/Time": "int32 sec; uint32 nanosec",
    "rosgraph_msgs/Clock": "builtin_interfaces/Time clock",
    "std_msgs/Header": "builtin_interfaces/Time stamp; string frame_id",
    "std_msgs/String": "string data",
    "std_msgs/MultiArrayDimension": "string label; uint32 size; uint32 stride",
    "std_msgs/MultiArrayLayout": "std_msgs/MultiArrayDimension[] dim; uint32 data_offset",
    "std_msgs/Float64MultiArray": "std_msgs/MultiArrayLayout layout; float64[] data",
    "geometry_msgs/Vector3": "float64 x; float64 y; float64 z",
    "geometry_msgs/Point": "float64 x; float64 y; float64 z",
    "geometry_msgs/Quaternion": "float64 x; float64 y; float64 z; float64 w",
    "geometry_msgs/Pose": "geometry_msgs/Point position; geometry_msgs/Quaternion orientation",
    "geometry_msgs/PoseWithCovariance": "geometry_msgs/Pose pose; float64[36] covariance",
    "geometry_msgs/Twist": "geometry_msgs/Vector3 linear; geometry_msgs/Vector3 angular",
    "geometry_msgs/TwistWithCovariance": "geometry_msgs/Twist twist; float64[36] covariance",
    "geometry_msgs/Transform": """
        geometry_msgs/Vector3 translation; geometry_msgs/Quaternion rotation""",
    "geometry_msgs/TransformStamped": """
        std_msgs/Header header; string child_frame_id; geometry_msgs/Transform transform""",
    "tf2_msgs/TFMessage": "geometry_msgs/TransformStamped[] transforms",
    "nav_msgs/Odometry": """
        std_msgs/Header header; string child_frame_id; geometry_msgs/PoseWithCovariance pose;
        geometry_msgs/TwistWithCovariance twist""",
    "sensor_msgs/JointState": """
        std_msgs/Header header; string[] name; float64[] position; float64[] velocity;
        float64[] effort""",
    "sensor_msgs/Imu": """
        std_msgs/Header header; geometry_msgs/Quaternion orientation;
        float64[9] orientation_covariance; geometry_msgs/Vector3 angular_velocity;
        float64[9] angular_velocity_covariance; geometry_msgs/Vector3 linear_acceleration;
        float64[9] linear_acceleration_covariance""",
    "sensor_msgs/LaserScan": """
        std_msgs/Header header; float32 angle_min; float32 angle_max; float32 angle_increment;
        float32 time_increment; float32 scan_time; float32 range_min; float32 range_max;
        float32[] ranges; float32[] intensities""",
    "sensor_msgs/RegionOfInterest": """
        uint32 x_offset; uint32 y_offset; uint32 height; uint32 width; bool do_rectify""",
    "sensor_msgs/CameraInfo": """
        std_msgs/Header header; uint32 height; uint32 width; string distortion_model; float64[] d;
        float64[9] k; float64[9] r; float64[12] p; uint32 binning_x; uint32 binning_y;
        sensor_msgs/RegionOfInterest roi""",
    "sensor_msgs/Image": """
        std_msgs/Header header; uint32 height; uint32 width; string encoding; uint8 is_bigendian;
        uint32 step; uint8[] data""",
}

TYPES = Library(_DEFINITIONS)

# Of the types of topics: ROS 2 since Iron compares them (REP 2016).
HASHES = {
    "rosgraph_msgs/Clock": "692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564",
    "std_msgs/String": "df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
    "std_msgs/Float64MultiArray": (
        "1025ddc6b9552d191f89ef1a8d2f60f3d373e28b283d8891ddcc974e8c55397f"
    ),
    "geometry_msgs/Twist": "9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a",
    "tf2_msgs/TFMessage": "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
    "nav_msgs/Odometry": "3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0",
    "sensor_msgs/JointState": "a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e",
    "sensor_msgs/Imu": "7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b",
    "sensor_msgs/LaserScan": "64c191398013af96509d518dac71d5164f9382553fce5c1f8cca5be7924bd828",
    "sensor_msgs/CameraInfo": "b3dfd68ff46c9d56c80fd3bd4ed22c7a4ddce8c8348f2f59c299e73118e7e275",
    "sensor_msgs/Image": "d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47",
}
