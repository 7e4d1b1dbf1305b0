CREATE TABLE `instance` (
	`id` text PRIMARY KEY NOT NULL,
	`instance_id` text NOT NULL,
	`epoch` integer DEFAULT 1 NOT NULL,
	`restored_from` text,
	`backup_at_ms` integer,
	`restored_at_ms` integer,
	`served_at` text
);
--> statement-breakpoint
INSERT INTO `instance` (`id`, `instance_id`) VALUES ('this', lower(hex(randomblob(16))));
