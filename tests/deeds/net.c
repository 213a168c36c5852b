/* SPDX-License-Identifier: MIT */
/*
 * Sockets of every family a tool may use. Peers listen on PEER_PORT in the
 * network namespace of the deed; nothing leaves the machine.
 */
#include "deed.h"
#include <arpa/inet.h>
#include <linux/if_alg.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>

ACT(socket_inet_stream) { return socket(AF_INET, SOCK_STREAM, 0); }

ACT(socket_packet) { return socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)); }

ACT(socket_raw_icmp) { return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); }

ACT(socket_netlink) { return socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE); }

ACT(socket_vsock) { return socket(AF_VSOCK, SOCK_STREAM, 0); }

ACT(socket_alg) { return socket(AF_ALG, SOCK_SEQPACKET, 0); }

ACT(socketpair_unix) { return socketpair(AF_UNIX, SOCK_STREAM, 0, t.ends); }

SETUP(connect_tcp4) { tcp_ready(); }
ACT(connect_tcp4) { return connect(t.sock, TO4); }
CHECK(connect_tcp4) { return something_arrived(); }

SETUP(connect_tcp6)
{
	listen_on(AF_INET6, SOCK_STREAM);
	t.sock = socket(AF_INET6, SOCK_STREAM, 0);
}
ACT(connect_tcp6) { return connect(t.sock, TO6); }
CHECK(connect_tcp6) { return something_arrived(); }

SETUP(connect_tcp_v4mapped)
{
	listen_on(AF_INET, SOCK_STREAM);
	t.sock = socket(AF_INET6, SOCK_STREAM, 0);
	loopback6(PEER_PORT);
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &t.in6.sin6_addr);
}
ACT(connect_tcp_v4mapped) { return connect(t.sock, TO6); }
CHECK(connect_tcp_v4mapped) { return something_arrived(); }

SETUP(connect_unspec) { udp_connected(); }
ACT(connect_unspec)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	return connect(t.sock, &none, sizeof(none));
}

SETUP(connect_udp4) { udp_ready(); }
ACT(connect_udp4) { return connect(t.sock, TO4); }

SETUP(send_connected_udp4) { udp_connected(); }
ACT(send_connected_udp4) { return send(t.sock, "x", 1, 0); }
CHECK(send_connected_udp4) { return something_arrived(); }

SETUP(write_connected_udp4) { udp_connected(); }
ACT(write_connected_udp4) { return write(t.sock, "x", 1); }
CHECK(write_connected_udp4) { return something_arrived(); }

SETUP(sendto_udp4) { udp_ready(); }
ACT(sendto_udp4) { return sendto(t.sock, "x", 1, 0, TO4); }
CHECK(sendto_udp4) { return something_arrived(); }

SETUP(sendto_udp6)
{
	listen_on(AF_INET6, SOCK_DGRAM);
	t.sock = socket(AF_INET6, SOCK_DGRAM, 0);
}
ACT(sendto_udp6) { return sendto(t.sock, "x", 1, 0, TO6); }
CHECK(sendto_udp6) { return something_arrived(); }

SETUP(sendto_other_than_connected)
{
	udp_connected();
	t.in4.sin_port = htons(PEER_PORT + 100);
}
ACT(sendto_other_than_connected) { return sendto(t.sock, "x", 1, 0, TO4); }

SETUP(sendmsg_udp4)
{
	udp_ready();
	message_to(&t.in4, sizeof(t.in4));
}
ACT(sendmsg_udp4) { return sendmsg(t.sock, &t.msg, 0); }
CHECK(sendmsg_udp4) { return something_arrived(); }

SETUP(sendmmsg_udp4)
{
	udp_ready();
	message_to(&t.in4, sizeof(t.in4));
}
ACT(sendmmsg_udp4)
{
	struct mmsghdr two[2] = { { t.msg, 0 }, { t.msg, 0 } };

	return sendmmsg(t.sock, two, 2, 0);
}
CHECK(sendmmsg_udp4) { return something_arrived(); }

static void fastopen_ready(void)
{
	int backlog = 5;

	tcp_ready();
	setsockopt(t.peer, IPPROTO_TCP, TCP_FASTOPEN, &backlog,
		   sizeof(backlog));
}

SETUP(tcp_fastopen_sendto) { fastopen_ready(); }
ACT(tcp_fastopen_sendto) { return sendto(t.sock, "x", 1, MSG_FASTOPEN, TO4); }
CHECK(tcp_fastopen_sendto) { return something_arrived(); }

SETUP(tcp_fastopen_sendmsg)
{
	fastopen_ready();
	message_to(&t.in4, sizeof(t.in4));
}
ACT(tcp_fastopen_sendmsg) { return sendmsg(t.sock, &t.msg, MSG_FASTOPEN); }
CHECK(tcp_fastopen_sendmsg) { return something_arrived(); }

SETUP(tcp_fastopen_connect_opt)
{
	int on = 1;

	fastopen_ready();
	setsockopt(t.sock, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on));
}
ACT(tcp_fastopen_connect_opt)
{
	return connect(t.sock, TO4) ? -1 : send(t.sock, "x", 1, 0);
}
CHECK(tcp_fastopen_connect_opt) { return something_arrived(); }

SETUP(send_tcp_connected) { tcp_connected(); }
ACT(send_tcp_connected) { return send(t.sock, "x", 1, 0); }
CHECK(send_tcp_connected) { return bytes_arrived(); }

SETUP(write_tcp_connected) { tcp_connected(); }
ACT(write_tcp_connected) { return write(t.sock, "x", 1); }
CHECK(write_tcp_connected) { return bytes_arrived(); }

SETUP(sendfile_to_tcp)
{
	tcp_connected();
	t.fd = open("a", O_RDONLY);
}
ACT(sendfile_to_tcp) { return sendfile(t.sock, t.fd, NULL, 5); }
CHECK(sendfile_to_tcp) { return bytes_arrived(); }

SETUP(splice_to_tcp)
{
	tcp_connected();
	pipe(t.ends);
	write(t.ends[1], "abc", 3);
}
ACT(splice_to_tcp) { return splice(t.ends[0], 0, t.sock, 0, 3, 0); }
CHECK(splice_to_tcp) { return bytes_arrived(); }

static void bytes_waiting(void)
{
	tcp_connected();
	t.fd = accept(t.peer, NULL, NULL);
	(void)!write(t.sock, "abc", 3);
}

SETUP(recv_tcp) { bytes_waiting(); }
ACT(recv_tcp) { return recv(t.fd, t.buf, 3, 0); }

SETUP(read_tcp) { bytes_waiting(); }
ACT(read_tcp) { return read(t.fd, t.buf, 3); }

SETUP(recvfrom_udp4)
{
	udp_ready();
	sendto(t.sock, "x", 1, 0, TO4);
	usleep(10000);
}
ACT(recvfrom_udp4) { return recvfrom(t.peer, t.buf, 9, 0, NULL, NULL); }

SETUP(bind_tcp4)
{
	t.sock = socket(AF_INET, SOCK_STREAM, 0);
	loopback4(OWN_PORT);
}
ACT(bind_tcp4) { return bind(t.sock, TO4); }

SETUP(bind_tcp6)
{
	t.sock = socket(AF_INET6, SOCK_STREAM, 0);
	loopback6(OWN_PORT);
}
ACT(bind_tcp6) { return bind(t.sock, TO6); }

SETUP(listen_autobind) { t.sock = socket(AF_INET, SOCK_STREAM, 0); }
ACT(listen_autobind) { return listen(t.sock, 5); }

SETUP(listen)
{
	t.sock = socket(AF_INET, SOCK_STREAM, 0);
	loopback4(OWN_PORT);
	bind(t.sock, TO4);
}
ACT(listen) { return listen(t.sock, 5); }

SETUP(accept) { tcp_connected(); }
ACT(accept) { return accept(t.peer, NULL, NULL); }

SETUP(getpeername) { tcp_connected(); }
ACT(getpeername)
{
	struct sockaddr_in peer;
	socklen_t len = sizeof(peer);

	return getpeername(t.sock, (struct sockaddr *)&peer, &len);
}

SETUP(setsockopt) { t.sock = socket(AF_INET, SOCK_STREAM, 0); }
ACT(setsockopt)
{
	int on = 1;

	return setsockopt(t.sock, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

SETUP(mptcp_connect)
{
	listen_on(AF_INET, SOCK_STREAM);
	t.sock = socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP);
}
ACT(mptcp_connect) { return connect(t.sock, TO4); }
CHECK(mptcp_connect) { return something_arrived(); }

/* t.buf becomes an echo request. */
static void echo_request(int type)
{
	t.sock = socket(AF_INET, type, IPPROTO_ICMP);
	loopback4(0);
	t.buf[0] = 8;
}

SETUP(raw_icmp_sendto) { echo_request(SOCK_RAW); }
ACT(raw_icmp_sendto) { return sendto(t.sock, t.buf, 8, 0, TO4); }

SETUP(raw_connect) { echo_request(SOCK_RAW); }
ACT(raw_connect) { return connect(t.sock, TO4); }

SETUP(ping_socket_sendto)
{
	int fd = open("/proc/sys/net/ipv4/ping_group_range", O_WRONLY);

	(void)!write(fd, "0 9999", 6);
	close(fd);
	echo_request(SOCK_DGRAM);
}
ACT(ping_socket_sendto) { return sendto(t.sock, t.buf, 8, 0, TO4); }

SETUP(packet_sendto) { t.sock = socket(AF_PACKET, SOCK_RAW, 0); }
ACT(packet_sendto)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET,
				  .sll_ifindex = 1,
				  .sll_protocol = htons(0x88b5),
				  .sll_halen = 6 };

	return sendto(t.sock, t.buf, 64, 0, (struct sockaddr *)&to, sizeof(to));
}

SETUP(netlink_send) { t.sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE); }
ACT(netlink_send)
{
	struct {
		struct nlmsghdr head;
		struct rtgenmsg gen;
	} ask = { { .nlmsg_len = sizeof(ask),
		    .nlmsg_type = RTM_GETLINK,
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		  { .rtgen_family = AF_UNSPEC } };

	return send(t.sock, &ask, sizeof(ask), 0);
}

static struct sockaddr_vm vm = { .svm_family = AF_VSOCK, .svm_port = 99 };

SETUP(vsock_connect)
{
	t.peer = socket(AF_VSOCK, SOCK_STREAM, 0);
	vm.svm_cid = VMADDR_CID_ANY;
	bind(t.peer, (struct sockaddr *)&vm, sizeof(vm));
	listen(t.peer, 2);
	vm.svm_cid = VMADDR_CID_LOCAL;
	t.sock = socket(AF_VSOCK, SOCK_STREAM, 0);
}
ACT(vsock_connect)
{
	return connect(t.sock, (struct sockaddr *)&vm, sizeof(vm));
}
CHECK(vsock_connect) { return something_arrived(); }

SETUP(alg_bind) { t.sock = socket(AF_ALG, SOCK_SEQPACKET, 0); }
ACT(alg_bind)
{
	struct sockaddr_alg alg = { .salg_family = AF_ALG,
				    .salg_type = "hash",
				    .salg_name = "sha256" };

	return bind(t.sock, (struct sockaddr *)&alg, sizeof(alg));
}

SETUP(unix_bind_path)
{
	t.sock = socket(AF_UNIX, SOCK_STREAM, 0);
	t.un.sun_family = AF_UNIX;
	memcpy(t.un.sun_path, "sock", 5);
}
ACT(unix_bind_path) { return bind(t.sock, TO_UNIX); }

SETUP(unix_connect_path) { unix_ready(SOCK_STREAM, false); }
ACT(unix_connect_path) { return connect(t.sock, TO_UNIX); }
CHECK(unix_connect_path) { return something_arrived(); }

SETUP(unix_connect_symlink)
{
	unix_ready(SOCK_STREAM, false);
	symlink("sock", "alias");
	memcpy(t.un.sun_path, "alias", 6);
}
ACT(unix_connect_symlink) { return connect(t.sock, TO_UNIX); }
CHECK(unix_connect_symlink) { return something_arrived(); }

SETUP(unix_connect_abstract) { unix_ready(SOCK_STREAM, true); }
ACT(unix_connect_abstract) { return connect(t.sock, TO_ABSTRACT); }
CHECK(unix_connect_abstract) { return something_arrived(); }

SETUP(unix_dgram_sendto_path) { unix_ready(SOCK_DGRAM, false); }
ACT(unix_dgram_sendto_path) { return sendto(t.sock, "x", 1, 0, TO_UNIX); }
CHECK(unix_dgram_sendto_path) { return something_arrived(); }

SETUP(unix_dgram_sendto_abstract) { unix_ready(SOCK_DGRAM, true); }
ACT(unix_dgram_sendto_abstract)
{
	return sendto(t.sock, "x", 1, 0, TO_ABSTRACT);
}
CHECK(unix_dgram_sendto_abstract) { return something_arrived(); }

SETUP(unix_dgram_connect_path) { unix_ready(SOCK_DGRAM, false); }
ACT(unix_dgram_connect_path) { return connect(t.sock, TO_UNIX); }

static void pair_with_message(void)
{
	t.fd = open("a", O_RDONLY);
	socketpair(AF_UNIX, SOCK_STREAM, 0, t.ends);
	attach_fd(t.fd);
}

SETUP(scm_rights_send) { pair_with_message(); }
ACT(scm_rights_send) { return sendmsg(t.ends[0], &t.msg, 0); }

/* A withheld descriptor leaves the message without its control part. */
SETUP(scm_rights_recv)
{
	pair_with_message();
	sendmsg(t.ends[0], &t.msg, 0);
	t.msg.msg_controllen = sizeof(t.control);
	t.vec.iov_base = t.buf;
}
ACT(scm_rights_recv)
{
	ssize_t n = recvmsg(t.ends[1], &t.msg, 0);

	if (n >= 0 && !CMSG_FIRSTHDR(&t.msg))
		return keep_errno(-1, ENODATA);
	return n;
}

/* clang-format off */
const struct deed net_deeds[] = {
	A(socket_inet_stream),
	A(socket_packet),
	A(socket_raw_icmp),
	A(socket_netlink),
	A(socket_vsock),
	A(socket_alg),
	A(socketpair_unix),
	SAC(connect_tcp4),
	SAC(connect_tcp6),
	SAC(connect_tcp_v4mapped),
	SA(connect_unspec),
	SA(connect_udp4),
	SAC(send_connected_udp4),
	SAC(write_connected_udp4),
	SAC(sendto_udp4),
	SAC(sendto_udp6),
	SA(sendto_other_than_connected),
	SAC(sendmsg_udp4),
	SAC(sendmmsg_udp4),
	SAC(tcp_fastopen_sendto),
	SAC(tcp_fastopen_sendmsg),
	SAC(tcp_fastopen_connect_opt),
	SAC(send_tcp_connected),
	SAC(write_tcp_connected),
	SAC(sendfile_to_tcp),
	SAC(splice_to_tcp),
	SA(recv_tcp),
	SA(read_tcp),
	SA(recvfrom_udp4),
	SA(bind_tcp4),
	SA(bind_tcp6),
	SA(listen_autobind),
	SA(listen),
	SA(accept),
	SA(getpeername),
	SA(setsockopt),
	SAC(mptcp_connect),
	SA(raw_icmp_sendto),
	SA(raw_connect),
	SA(ping_socket_sendto),
	SA(packet_sendto),
	SA(netlink_send),
	SAC(vsock_connect),
	SA(alg_bind),
	SA(unix_bind_path),
	SAC(unix_connect_path),
	SAC(unix_connect_symlink),
	SAC(unix_connect_abstract),
	SAC(unix_dgram_sendto_path),
	SAC(unix_dgram_sendto_abstract),
	SA(unix_dgram_connect_path),
	SA(scm_rights_send),
	SA(scm_rights_recv),
	{ NULL },
};
