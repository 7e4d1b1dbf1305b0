CREATE TABLE `plan_invoices` (
	`id` text PRIMARY KEY NOT NULL,
	`order_id` text NOT NULL,
	`subscription_id` text NOT NULL,
	`account_id` text NOT NULL,
	`plan_id` text NOT NULL,
	`intent_id` text,
	`grant_id` text NOT NULL,
	`paid` integer NOT NULL,
	`net` integer NOT NULL,
	`credited` integer NOT NULL,
	`starts_at_ms` integer NOT NULL,
	`ends_at_ms` integer NOT NULL,
	`paid_at_ms` integer NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `plan_invoices_account` ON `plan_invoices` (`account_id`,`paid_at_ms`);--> statement-breakpoint
CREATE INDEX `plan_invoices_subscription` ON `plan_invoices` (`subscription_id`,`starts_at_ms`);--> statement-breakpoint
CREATE INDEX `plan_invoices_intent` ON `plan_invoices` (`intent_id`);--> statement-breakpoint
CREATE TABLE `plan_orders` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`terms` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`session_id` text,
	`customer_id` text,
	`stripe_id` text,
	`subscription_id` text,
	`reads` integer DEFAULT 0 NOT NULL,
	`next_read_at_ms` integer,
	`ended_at_ms` integer
);
--> statement-breakpoint
CREATE INDEX `plan_orders_account` ON `plan_orders` (`account_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `plan_orders_stripe` ON `plan_orders` (`stripe_id`);--> statement-breakpoint
CREATE INDEX `plan_orders_next` ON `plan_orders` (`next_read_at_ms`);--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `stripe_id` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `paid_until_ms` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_stripe` ON `subscriptions` (`stripe_id`);